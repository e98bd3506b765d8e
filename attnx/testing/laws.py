"""The laws: small functions, each of which raises `Broken` if a component does not keep it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..host.cards import Kind


class Broken(Exception):
    """A component breaks a law; the message says how."""


@dataclass(frozen=True, slots=True)
class Law:
    """One law for one kind of component.

    Attributes:
        kind: the kind of component that must keep it.
        name: its name, which `attnx check` prints.
        statement: what it demands, in a sentence.
        test: the function that raises if a component breaks it.
    """

    kind: Kind
    name: str
    statement: str
    test: Callable[[Any], None]


LAWS: list[Law] = []


def law(kind: Kind) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Register a function as a law of a kind; its name is that of the law, its docstring the statement."""

    def register(test: Callable[[Any], None]) -> Callable[[Any], None]:
        LAWS.append(Law(kind, test.__name__.replace("_", "-"), inspect.getdoc(test) or "", test))
        return test

    return register


def require(kept: bool, otherwise: str) -> None:
    """Raise `Broken` with this message unless the law is kept."""
    if not kept:
        raise Broken(otherwise)
