"""Finds and reads the source files of components without importing their packages."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from functools import cache

# A class with a docstring in the usual form; parsing every file would take ten times as long.
_OPENING = re.compile(r'^class (\w+)[^\n]*:\n[ \t]+"""([^\n\\"][^\n\\]*?)(?:"""|\n)', re.MULTILINE)


class NoSource(Exception):
    """The source of the class was not found."""


def first_line(target: str) -> str:
    """The first line of the docstring of "module:Class"."""
    module, _, name = target.partition(":")
    file = locate(module)
    line = _first_lines(file).get(name, "") if file else ""
    if not line:
        from .declarations import read_docstring  # for classes written in another form

        line = read_docstring(target).partition("\n")[0]
    return line.strip()


def locate(module: str) -> str:
    """The source file of a module; empty if there is none, or for the standard library."""
    top, *inside = module.split(".")
    try:
        spec = None if top in sys.stdlib_module_names else importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return ""
    if not inside:
        return spec.origin if spec.origin and spec.origin.endswith(".py") else ""
    for folder in spec.submodule_search_locations or ():
        path = os.path.join(folder, *inside)
        for file in (os.path.join(path, "__init__.py"), f"{path}.py"):
            if os.path.isfile(file):
                return file
    return ""


@cache
def read_source(file: str) -> str:
    """The text of a file; empty if it cannot be read, since importing it raises the error."""
    try:
        with open(file, encoding="utf-8-sig") as source:
            return source.read()
    except (OSError, UnicodeDecodeError):
        return ""


@cache
def _first_lines(file: str) -> dict[str, str]:
    return dict(_OPENING.findall(read_source(file)))


def forget_sources() -> None:
    """Read every file again: one may have changed."""
    read_source.cache_clear()
    _first_lines.cache_clear()
