"""The laws: small functions, each of which raises `Broken` when a component does not keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..host.cards import Kind


class Broken(Exception):
    """What a component did against a law."""


@dataclass(frozen=True, slots=True)
class Law:
    """One law for one kind of component."""

    kind: Kind
    name: str
    statement: str
    test: Callable[[Any], None]


LAWS: list[Law] = []


def law(kind: Kind, statement: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Register a function as a law of that kind; its name is the law's."""

    def register(test: Callable[[Any], None]) -> Callable[[Any], None]:
        LAWS.append(Law(kind, test.__name__.replace("_", "-"), statement, test))
        return test

    return register


def require(kept: bool, otherwise: str) -> None:
    """Raise `Broken` unless the law is kept."""
    if not kept:
        raise Broken(otherwise)
