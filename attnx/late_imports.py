"""Public names that are imported when they are first used, so that importing attnx costs next to nothing."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Renamed:
    """Where a name of the previous version is now.

    Attributes:
        now: the name to use from now on, in full.
        works_as: what the old name still gives, where it takes other arguments than the new one.
    """

    now: str
    works_as: str = ""


def import_late(
    package: str, modules: Mapping[str, tuple[str, ...]], renamed: Mapping[str, Renamed] | None = None
) -> Callable[[str], Any]:
    """Make the `__getattr__` of a module whose public names live in other modules.

    Args:
        package: the module that has the names.
        modules: for each module below attnx, the names it holds.
        renamed: names of the previous version; they work, with a warning.

    Returns:
        A function from a name to what it stands for.
    """
    home = {name: module for module, names in modules.items() for name in names}
    old = renamed or {}

    def find(name: str) -> Any:
        if name in home:
            value = getattr(import_module(f"attnx.{home[name]}"), name)
            setattr(sys.modules[package], name, value)
            return value
        if name in old:
            place = old[name]
            warnings.warn(
                f"{package}.{name} is now {place.now}; the old name works until version 0.3",
                DeprecationWarning,
                stacklevel=3,  # past the module's own __getattr__, which calls this
            )
            module, _, new = (place.works_as or place.now).rpartition(".")
            return getattr(import_module(module), new)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return find
