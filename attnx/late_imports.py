"""Public names that are imported when they are first used, so that importing attnx costs next to nothing."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def import_late(
    package: str, modules: Mapping[str, tuple[str, ...]], renamed: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """A `__getattr__` for a module whose public names live in these modules below attnx.

    Args:
        package: the module that has the names.
        modules: for each module below attnx, the names it holds.
        renamed: names of the previous version, each with its new place; they work with a warning.
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
                f"{package}.{name} is now {place}; the old name goes with version 0.3",
                DeprecationWarning,
                stacklevel=2,
            )
            module, _, new = place.rpartition(".")
            return getattr(import_module(module), new)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return find
