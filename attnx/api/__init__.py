"""What a person calls in Python, one module per function; the command line calls the same."""
