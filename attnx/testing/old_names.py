"""Functions of `attnx.testing` as version 0.1 had them; they go with version 0.3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..host.cards import Component
from ..host.catalog import Catalog
from .check_report import LawResult
from .checking import check_by_name
from .checking import check_component as checked_component


def check_named(catalog: Catalog, name: str) -> Iterator[LawResult]:
    """Give the laws of what has this name; use `attnx.check(name)` instead."""
    for component in check_by_name(catalog, name):
        yield from component.laws


def check_component(
    catalog: Catalog, component: Component, given: Mapping[str, Any] | None = None
) -> Iterator[LawResult]:
    """Give the laws of an installed component; use `attnx.check(name)` instead."""
    yield from checked_component(catalog, component, given).laws
