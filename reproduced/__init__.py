"""docs/reproduced.md, made from the results in docs/data/reproductions: `python -m reproduced`."""
