"""Reads what a class declares from its source, without importing it or its package."""

from __future__ import annotations

import ast
import builtins
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from .sources import NoSource, locate, read_source

Names = tuple[str, ...]  # of a dotted name


class Unreadable(Exception):
    """The declared value is known only when the code runs."""


@dataclass(frozen=True, slots=True, eq=False)
class _Module:
    file: str
    bound: dict[str, ast.AST | _Imported]


@dataclass(frozen=True, slots=True)
class _Imported:
    module: str
    names: Names


@dataclass(frozen=True, slots=True)
class _Node:
    """A class or an expression, and the module that contains it."""

    module: _Module
    node: ast.AST


def read_docstring(target: str) -> str:
    """The docstring of a class."""
    return ast.get_docstring(_find_class(target).node) or ""  # type: ignore[arg-type]


def read_declaration(target: str, name: str) -> Any:
    """The value of a class attribute, own or inherited; None if there is none."""
    return _declared(target, name, locate(target.partition(":")[0]))


def read_measures(target: str) -> tuple[tuple[str, str, tuple[float, float]], ...]:
    """Name, direction and bounds of the measures that a metric declares with its class.

    Empty if they depend on options, or are not written as literals.
    """
    try:
        found = _attribute(_find_class(target), "measures")
    except (Unreadable, NoSource):
        return ()
    calls = found.node.elts if found and isinstance(found.node, ast.Tuple) else []
    measures = []
    for call in calls:
        arguments = call.args if isinstance(call, ast.Call) else []
        match [_number_or_text(argument) for argument in arguments[:3]]:
            case [str() as name, str() as direction, (int() | float() as low, int() | float() as high)]:
                measures.append((name, direction, (low, high)))
            case _:
                return ()
    return tuple(measures)


def _number_or_text(node: ast.AST) -> Any:
    """The value of a text, a number, ±math.inf, or a tuple of these; None for anything else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _number_or_text(operand)
            return -value if isinstance(value, int | float) else None
        case ast.Attribute(value=ast.Name(id="math"), attr="inf"):
            return math.inf
        case ast.Tuple(elts=items):
            values = tuple(_number_or_text(item) for item in items)
            return None if None in values else values
    return None


def defined_classes(module: str) -> dict[str, list[tuple[str, str]]]:
    """The classes that a module defines, each with the names and files of its base classes."""
    parsed = _parse(module, locate(module))
    own = {name: node for name, node in parsed.bound.items() if isinstance(node, ast.ClassDef)}
    return {
        name: [
            (base.node.name, base.module.file)
            for base in _lineage(_Node(parsed, node))[1:]
            if isinstance(base, _Node) and isinstance(base.node, ast.ClassDef)
        ]
        for name, node in own.items()
    }


def read_method(target: str, name: str) -> ast.FunctionDef | None:
    """The source of a method of a class, own or inherited; None if there is none."""
    try:
        found = _attribute(_find_class(target), name)
    except Unreadable:
        return None
    return found.node if found and isinstance(found.node, ast.FunctionDef) else None


@cache
def _declared(target: str, name: str, _file: str) -> Any:
    """The same, read once for the file that has the class."""
    try:
        found = _attribute(_find_class(target), name)
        return None if found is None else _evaluate(found)
    except RecursionError:  # names that refer to each other
        raise Unreadable(f"'{name}' of '{target}' is defined in terms of itself") from None


def _find_class(target: str) -> _Node:
    module, _, name = target.partition(":")
    found = _imported(_Imported(module, (name,)))
    if found is None or not isinstance(found.node, ast.ClassDef):
        raise NoSource(target)
    return found


def _attribute(owner: _Node, name: str) -> _Node | None:
    for ancestor in _lineage(owner):
        if isinstance(ancestor, Unreadable):
            raise ancestor
        assert isinstance(ancestor.node, ast.ClassDef)
        bound = _bindings(ancestor.node.body, "").get(name)
        if isinstance(bound, ast.AST):
            return _Node(ancestor.module, bound)
    return None


def _lineage(owner: _Node) -> list[_Node | Unreadable]:
    """The class and its base classes, in Python's order of attribute lookup.

    A base class outside the plugin, e.g. of torch, declares nothing. A base class that cannot be identified
    makes everything unknown that no class before it declares.
    """
    assert isinstance(owner.node, ast.ClassDef)
    order: list[_Node | Unreadable] = [owner]
    for base in owner.node.bases:
        names = _dotted(base)
        if not names or not (names[0] in owner.module.bound or hasattr(builtins, names[0])):
            order.append(
                Unreadable(f"a base class of '{owner.node.name}' is not known {_at(owner.module, base)}")
            )
        else:
            meant = _meaning(owner.module, names)
            order += _lineage(meant) if meant and isinstance(meant.node, ast.ClassDef) else []
    # A base class that several share comes after all of them.
    return [one for place, one in enumerate(order) if one not in order[place + 1 :]]


def _evaluate(value: _Node) -> Any:
    """The value of a literal, or of a constant of a module or class."""
    node, module = value.node, value.module
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(word for item in node.elts for word in _items(item, module))
    names = () if isinstance(node, ast.Subscript) else _dotted(node)
    meant = _meaning(module, names) if names else None
    if meant is None or isinstance(meant.node, ast.ClassDef):
        raise Unreadable(f"it is not a literal tuple or string {_at(module, node)}")
    return _evaluate(meant)


def _items(item: ast.expr, module: _Module) -> tuple[Any, ...]:
    if not isinstance(item, ast.Starred):
        return (_evaluate(_Node(module, item)),)
    spread = _evaluate(_Node(module, item.value))
    if not isinstance(spread, tuple):
        raise Unreadable(f"it is not a literal tuple {_at(module, item)}")
    return spread


def _meaning(module: _Module, names: Names) -> _Node | None:
    """What a dotted name refers to in a module; None if its source is not available."""
    bound, rest = module.bound.get(names[0]), names[1:]
    if isinstance(bound, _Imported):
        return _imported(_Imported(bound.module, (*bound.names, *rest)))
    if bound is None or len(rest) > 1:
        return None
    found = _Node(module, bound)
    if not rest:
        return found
    return _attribute(found, rest[0]) if isinstance(bound, ast.ClassDef) else None


def _imported(wanted: _Imported) -> _Node | None:
    place, names = wanted.module, wanted.names
    while len(names) > 1 and locate(f"{place}.{names[0]}"):  # `from torch import nn`, then `nn.Module`
        place, names = f"{place}.{names[0]}", names[1:]
    file = locate(place)
    return _meaning(_parse(place, file), names) if file and names else None


@cache
def _parse(name: str, file: str) -> _Module:
    try:
        tree = ast.parse(read_source(file))
    except SyntaxError:  # importing it raises the error
        return _Module(file, {})
    package = name if os.path.basename(file) == "__init__.py" else name.rpartition(".")[0]
    return _Module(file, _bindings(tree.body, package))


def _bindings(body: Iterable[ast.stmt], package: str) -> dict[str, ast.AST | _Imported]:
    """The last value bound to each name of a module or class."""
    bound: dict[str, ast.AST | _Imported] = {}
    for statement in _statements(body):
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                bound[name] = statement
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                bound[name] = value
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    for part in ast.walk(target):
                        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                            bound[part.id] = value if part is target else statement
            case ast.AugAssign(target=ast.Name(id=name)):
                bound[name] = statement
            case ast.Import(names=aliases):
                for alias in aliases:
                    top = alias.name.partition(".")[0]
                    bound[alias.asname or top] = _Imported(alias.name if alias.asname else top, ())
            case ast.ImportFrom(module=module, names=aliases, level=level):
                place = _resolved(module or "", level, package)
                bound |= {alias.asname or alias.name: _Imported(place, (alias.name,)) for alias in aliases}
    return bound


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, including those inside if and try."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try):
            yield from _statements([*statement.body, *statement.orelse])


def _resolved(module: str, level: int, package: str) -> str:
    if level == 0:
        return module
    parents = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join(filter(None, [*parents, module]))


def _dotted(node: ast.AST) -> Names:
    """The names of `a.b.C` or `a.b.C[...]`; empty for anything else."""
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return (*owner, node.attr) if owner else ()
    return (node.id,) if isinstance(node, ast.Name) else ()


def _at(module: _Module, node: ast.AST) -> str:
    return f"({module.file}:{getattr(node, 'lineno', 1)})"
