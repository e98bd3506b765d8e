"""Importance methods of your own on the command line: FILE.py:NAME."""

from collections.abc import Sequence
from typing import Any


def methods_given(names: Sequence[str] | None) -> list[Any]:
    """The names as they are, and the functions or objects in the place of FILE.py:NAME."""
    return [_found(name) for name in names or ()]


def _found(name: str) -> Any:
    where, colon, _ = name.rpartition(":")
    if not (colon and where.endswith(".py")):
        return name

    from ..wrapping.own_components import object_at

    return object_at(name)
