"""Language models: the prompt around a text, and the answers whose probabilities are read."""
