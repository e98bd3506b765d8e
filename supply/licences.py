"""The licence of every package that attnx rests on: `python -m supply.licences` lists them.

One that nobody named, or that asks for more than to be kept beside the code, is refused.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution

from .packages import installed

# What a licence may be called in metadata; each can be used beside Apache-2.0.
FREE = re.compile(
    r"BSD|MIT|Apache|ISC|PSF|Python Software Foundation|MPL-2\.0|Mozilla Public License 2\.0|"
    r"HPND|CMU|Unlicense|Zlib|CC0|BSL-1\.0|CNRI",
    re.IGNORECASE,
)
REFUSED = re.compile(
    r"\bA?GPL|\bGNU (?:Affero )?General Public|\bSSPL|\bCommons Clause|NonCommercial", re.IGNORECASE
)
# Packages whose metadata does not say it, and where it stands.
SAID_ELSEWHERE: dict[str, str] = {
    "axe-playwright-python": "MIT AND MPL-2.0",  # its file LICENSE, and the head of axe.min.js
}


def licence_of(name: str, package: Distribution) -> str:
    """What a package says of its licence, in one line; nothing where it says nothing."""
    about = package.metadata
    expression = about.get("License-Expression")
    classified = [
        line.rpartition(" :: ")[2]
        for line in about.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    stated = (about.get("License") or "").strip().splitlines()
    found = expression or "; ".join(classified) or (stated[0] if stated else "")
    return found or SAID_ELSEWHERE.get(name, "")


def problem(licence: str) -> str:
    """What is wrong with a licence, or nothing; where there is a choice, one that is free is enough."""
    if not licence:
        return "unknown"
    choices = re.split(r"\bOR\b", licence)
    if any(FREE.search(choice) and not REFUSED.search(choice) for choice in choices):
        return ""
    return "refused" if REFUSED.search(licence) else "unknown"


def main() -> None:
    """List all, and leave with 1 where one is refused."""
    wrong = 0
    for name, package in sorted(installed().items()):
        licence = licence_of(name, package)
        said = problem(licence)
        wrong += bool(said)
        print(f"{name} {package.version}: {licence or '-'}{f'  <- {said}' if said else ''}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
