"""Which methods explain a text, and which metrics test them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import UsageError
from ..host.catalog import Catalog
from ..request.arguments import Arguments
from ..request.choices import ALL
from ..request.objects import Objects
from ..request.plan import Part, Plan, Tests
from ..request.resolve import find_part, resolve_tests
from ..request.spec import Choice
from ..results.explanation import RANDOM_DRAWS
from ..results.report import Report
from .measuring.attribution import Named


def choose_tests(
    plan: Plan, methods: Any, metrics: Any, report: Report | None, catalog: Catalog, objects: Objects
) -> Tests[Named]:
    """The methods and metrics that are asked for; without metrics nothing but the methods.

    Without methods: attention, if the model has it, and the methods of the report.
    """
    asked = Arguments(catalog, dict(objects))
    chosen = asked.choices("importance", methods) or _usual_methods(plan, report, catalog)
    measured = asked.choices("metric", metrics)
    tests = resolve_tests(plan, chosen, measured, catalog, asked.objects).tests
    if not tests.metrics:
        return Tests(tests.explanations).map(Named.of)
    baselines = tuple(part for part in tests.baselines if part.label == plan.chance)
    draws = tuple(draw for part in baselines for draw in _draws(part, catalog))
    made = replace(tests, baselines=draws).map(Named.of)
    return replace(made, metrics=_of_single_texts(made.metrics, any(one.name == ALL for one in measured)))


def _usual_methods(plan: Plan, report: Report | None, catalog: Catalog) -> tuple[Choice, ...]:
    own = [plan.own] if plan.own and "attention" in plan.model.provides else []
    installed: list[str] = []
    if report is not None:
        name_of = {used.label: used.name for used in report.components if used.kind == "importance"}
        installed = [
            cost.method
            for cost in report.costs
            if cost.method not in report.baseline_names
            and ("importance", name_of.get(cost.method, "")) in catalog.components
        ]
    return tuple(Choice.parse(label) for label in dict.fromkeys([*own, *installed]))


def _draws(part: Part, catalog: Catalog) -> tuple[Part, ...]:
    """A random baseline with several seeds: the value of one draw says little about one text."""
    if "seed" not in type(part.options).model_fields:
        return (part,)
    first = part.choice.options["seed"]
    others = range(first + 1, first + RANDOM_DRAWS)
    name = part.choice.name
    return (
        part,
        *(find_part(catalog, "importance", Choice(name=name, options={"seed": seed})) for seed in others),
    )


def _of_single_texts(metrics: tuple[Named, ...], every: bool) -> tuple[Named, ...]:
    """The metrics with a value for every text; one that measures a whole split is refused if it is named."""
    whole = [named for named in metrics if named.component.whole_split]
    if whole and not every:
        raise UsageError(
            f"Metric '{whole[0].label}' measures all texts of a test split together, not one text: use it in "
            "'attnx evaluate'."
        )
    return tuple(named for named in metrics if named not in whole)
