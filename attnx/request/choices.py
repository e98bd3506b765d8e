"""Chooses the metrics and references of a run: those that are named, or defaults that apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from ..errors import UsageError
from ..host.catalog import Catalog
from .plan import Part
from .spec import Choice, RunSpec

ALL, NONE = "all", "none"  # names that stand for a set of metrics
OF_THE_EXAMPLE = ("predicted", "gold")  # targets that are the example's own class

Find = Callable[[Choice], Part]


def only_quality(spec: RunSpec) -> bool:
    """Whether a run measures only the quality of the model."""
    names = [choice.name for choice in spec.metrics]
    if NONE in names and len(names) > 1:
        raise UsageError(f"--metric {NONE} excludes all other metrics. Remove it, or the others.")
    return names == [NONE]


def choose_metrics(spec: RunSpec, catalog: Catalog, provided: Set[str], find: Find) -> tuple[Part, ...]:
    """The named metrics; all that apply for `all`; the standard set if none is named."""
    if only_quality(spec):
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
    found = [part for part in found if fits_explained_class(part, spec)]
    comparable = spec.references or applicable_references(found, catalog, provided)
    given = {*provided, "reference"} if comparable else provided
    return (*named, *(part for part in found if given >= {*part.needs}))


def fits_explained_class(metric: Part, spec: RunSpec) -> bool:
    """Whether a metric can test explanations of this class: marked units are about the label alone."""
    return spec.target in OF_THE_EXAMPLE or metric.family != "ground-truth"


def choose_references(
    spec: RunSpec, metrics: Sequence[Part], catalog: Catalog, provided: Set[str]
) -> tuple[Choice, ...]:
    """The named references, or those that the metrics recommend.

    For metrics that were not named themselves, only references that apply are used.
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
    """The references that metrics recommend, if they are installed and apply."""
    applicable = {c.name for c in catalog.of_kind("importance") if provided >= {*c.needs}}
    return [name for part in metrics for name in part.recommends if name in applicable]
