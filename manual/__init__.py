"""The documentation site: pages of docs/, and reference pages made from the code. `make docs` builds it."""
