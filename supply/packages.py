"""The packages that an installation of attnx rests on, as they are installed here."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

EXTRAS = {"attnx": ("dev", "dask", "pandas")}


def installed() -> dict[str, Distribution]:
    """Everything below attnx and its tests by name, without attnx itself and what markers exclude."""
    found: dict[str, Distribution] = {}
    todo = [("attnx", EXTRAS["attnx"])]
    while todo:
        name, extras = todo.pop()
        for text in distribution(name).requires or ():
            requirement = Requirement(text)
            inner = canonical(requirement.name)
            asked = [{"extra": extra} for extra in extras] or [{"extra": ""}]
            if inner in found or inner == "attnx":
                continue
            if requirement.marker and not any(requirement.marker.evaluate(one) for one in asked):
                continue
            try:
                found[inner] = distribution(inner)
            except PackageNotFoundError as error:
                raise SystemExit(f"{inner} is needed by {name} and not installed") from error
            todo.append((inner, tuple(requirement.extras)))
    return found


def canonical(name: str) -> str:
    """A name as packages are compared by."""
    return re.sub(r"[-_.]+", "-", name).lower()
