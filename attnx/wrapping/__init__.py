"""A torch module of your own as a model: wrap it, and find out what it can do."""
