"""Readers of file formats, one a module: each gives rows, and says what is wrong in one line."""
