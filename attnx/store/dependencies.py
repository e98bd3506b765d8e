"""Finds what code depends on from its import statements, without running it."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

from ..errors import PluginError

# Every run computes with these, whatever components it has.
ALWAYS = frozenset({"numpy", "scipy", "torch"})

# Where a statement holds other statements.
BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


def library_versions(modules: Iterable[str]) -> dict[str, str]:
    """The installed versions of all libraries that these modules and their siblings import."""
    names = ALWAYS.union(*map(_libraries_of, modules))
    installed = _distributions()
    found: dict[str, str] = {}
    for one in (one for package in names for one in installed.get(package, ())):
        name, version = _name_and_version(one)
        found.setdefault(name, version)  # of two with one name, the first is imported
    return found


@cache
def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    """As its metadata says, which `Distribution.version` would read a second time."""
    metadata = distribution.metadata
    return metadata["Name"], metadata["Version"]


def modules_behind(roots: Iterable[str], rooms: Iterable[str] = ()) -> dict[str, Path]:
    """The source files of these modules and of all modules of their package that they import.

    `rooms` restricts them to these subpackages.
    """
    waiting = list(roots)
    package = waiting[0].partition(".")[0]
    inside = tuple(f"{package}.{room}" for room in rooms) or (package,)
    files = source_files(package)
    found = {name: files[name] for name in waiting if name in files}
    while waiting:
        for name in _imports(waiting.pop(), files):
            there = any(name == room or name.startswith(f"{room}.") for room in inside)
            if there and name in files and name not in found:
                found[name] = files[name]
                waiting.append(name)
    return found


def source_files(package: str) -> dict[str, Path]:
    """The source files of a package or module, by import name."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise PluginError(f"The source code of package '{package}' was not found.")
    found: dict[str, Path] = {}
    for place in spec.submodule_search_locations or [spec.origin or ""]:  # folders, or a single file
        if not os.path.isdir(place):
            found[package] = Path(place)
        for folder, _, files in os.walk(place):  # pathlib takes twice as long
            inner = folder[len(place) :].replace(os.sep, ".")
            for file in files:
                if file.endswith(".py"):
                    name = f"{package}{inner}.{file[:-3]}".removesuffix(".__init__")
                    found[name] = Path(folder, file)
    return found


def _imports(module: str, files: dict[str, Path]) -> set[str]:
    """Every name that a module imports, or may import from, except for type checking."""
    file = files.get(module)
    if file is None:
        return set()
    parent = module if file.name == "__init__.py" else module.rpartition(".")[0]
    return set(_named(ast.parse(file.read_bytes()), parent))


def _named(node: ast.AST, parent: str) -> Iterator[str]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        up = parent.split(".")[: len(parent.split(".")) - (node.level - 1)] if node.level else []
        origin = ".".join([*up, *([node.module] if node.module else [])])
        yield origin
        yield from (f"{origin}.{alias.name}" for alias in node.names)
    for part in BLOCKS:  # an expression imports nothing
        for child in getattr(node, part, ()):
            yield from _named(child, parent)


@cache
def _libraries_of(module: str) -> set[str]:
    files = modules_behind([module])
    names = {name.partition(".")[0] for inner in files for name in _imports(inner, files)}
    return names - sys.stdlib_module_names - {"attnx", module.partition(".")[0]}


@cache
def _distributions() -> dict[str, list[Distribution]]:
    """The distributions that install each package, as `importlib.metadata.packages_distributions` finds them.

    That makes an object of every installed file and reads all metadata, ten times the work.
    """
    found: dict[str, list[Distribution]] = {}
    for distribution in distributions():
        for package in _packages_of(distribution):
            found.setdefault(package, []).append(distribution)
    return found


def _packages_of(distribution: Distribution) -> set[str]:
    """The packages and modules of a distribution: those that it names, or those of its Python files."""
    named = distribution.read_text("top_level.txt")
    if named:
        return set(named.split())
    listed = distribution.read_text("RECORD")
    if listed is None:
        paths = [str(file) for file in distribution.files or ()]
    else:
        paths = [line.partition(",")[0] for line in listed.splitlines()]
    return {path.partition("/")[0].removesuffix(".py") for path in paths if path.endswith(".py")}
