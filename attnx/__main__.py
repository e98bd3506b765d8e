"""`python -m attnx` is `attnx`."""

from .cli import main

main()
