"""A table or figure of a paper: published and measured values side by side, and which claims hold.

Usage: python examples/01_paper_tables.py [EXPERIMENT ...]

`attnx reproduce --list` names the experiments and says how long each takes. Worker processes import this
file again, so its work is done only if it is the main program.
"""

import sys

import attnx

if __name__ == "__main__":
    for name in sys.argv[1:] or ["sdc-figure-5"]:
        found = attnx.reproduce(name)
        print(found.to_markdown())
        for claim in found.claims:
            print(f"{claim.status}: {claim.says}")
