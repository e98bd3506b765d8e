"""A table or figure of a paper: published beside measured, and which of its claims hold.

Usage: python examples/01_paper_tables.py [EXPERIMENT ...]

`attnx reproduce --list` names the experiments and says how long each takes. Workers import this
file again: what it does stands behind the question whether it is the program itself.
"""

import sys

import attnx

if __name__ == "__main__":
    for name in sys.argv[1:] or ["sdc-figure-5"]:
        found = attnx.reproduce(name)
        print(found.to_markdown())
        for claim in found.claims:
            print(f"{claim.status}: {claim.says}")
