"""A table or figure of a paper: its cells or studies, how well its models were trained, its claims."""
