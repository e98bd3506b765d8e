"""The metrics of a run, and what they compare with: those that are named, or a choice of those that apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from ..errors import UsageError
from ..host.catalog import Catalog
from .plan import Part
from .spec import Choice, RunSpec

ALL, NONE = "all", "none"  # names that stand for a choice of metrics

Find = Callable[[Choice], Part]


def quality_alone(spec: RunSpec) -> bool:
    """Whether a run is asked to measure nothing but the model's quality."""
    names = [choice.name for choice in spec.metrics]
    if NONE in names and len(names) > 1:
        raise UsageError(f"Metric '{NONE}' leaves no other: give it alone, or leave it out.")
    return names == [NONE]


def choose_metrics(spec: RunSpec, catalog: Catalog, provided: Set[str], find: Find) -> tuple[Part, ...]:
    """The metrics that are named; every one that applies for `all`; those of a plain run for no name."""
    if quality_alone(spec):
        return ()
    named = tuple(find(choice) for choice in spec.metrics if choice.name != ALL)
    if len(named) == len(spec.metrics) > 0:
        return named
    known = {choice.name for choice in spec.metrics}
    wanted = [
        component
        for component in catalog.of_kind("metric")
        if component.name not in known and (spec.metrics or component.card.plain)
    ]
    found = [find(Choice(name=component.name)) for component in wanted if not component.demanding]
    comparable = spec.references or applicable_references(found, catalog, provided)
    given = {*provided, "reference"} if comparable else provided
    return (*named, *(part for part in found if given >= {*part.needs}))


def choose_references(
    spec: RunSpec, metrics: Sequence[Part], catalog: Catalog, provided: Set[str]
) -> tuple[Choice, ...]:
    """The references that are named, or the usual ones of the metrics.

    For a metric that was not named these are the ones that apply.
    """
    named = {choice.name for choice in spec.metrics}
    demanded = [
        name
        for part in metrics
        if part.component and part.component.name in named
        for name in part.recommends
    ]
    usual = dict.fromkeys([*demanded, *applicable_references(metrics, catalog, provided)])
    return spec.references or tuple(Choice(name=name) for name in usual)


def applicable_references(metrics: Sequence[Part], catalog: Catalog, provided: Set[str]) -> list[str]:
    """What metrics recommend to compare with, as far as it is installed and applies."""
    applicable = {c.name for c in catalog.of_kind("importance") if provided >= {*c.needs}}
    return [name for part in metrics for name in part.recommends if name in applicable]
