"""Which published value is shown next to ours: one of the same task, model and projection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..host.catalog import Catalog
from ..registry.experiments import Experiment, Row
from ..request.plan import Part, Plan
from ..request.resolve import resolve
from ..request.spec import Choice, RunSpec


def published_value(
    catalog: Catalog, experiment: str, column: str, plans: Sequence[Plan]
) -> tuple[float, str] | None:
    """What an experiment of the registry has for these plans together, and where that stands in the paper."""
    found = catalog.registry.experiments.get(experiment)
    for row in found.rows.values() if found else ():
        value = found.value(row, column) if found else None
        if found and value is not None and all(_is_of(plan, row, found, catalog) for plan in plans):
            return value, found.source
    return None


def _is_of(plan: Plan, row: Row, experiment: Experiment, catalog: Catalog) -> bool:
    """Whether a row is about what a plan has: nothing differs but the options that are free to."""
    name, model = plan.task.choice.name, plan.model.choice.name
    if row.projection and (plan.projection is None or plan.projection.choice.name != row.projection):
        return False
    tasks = [task for task in experiment.tasks(row) if Choice.parse(task).name == name]
    models = [asked for asked in row.model if _component(asked, catalog) == model]
    for task in tasks:
        for asked in models:
            theirs = resolve(RunSpec.model_validate({"task": task, "model": asked}), catalog)
            if all(
                _options(ours, experiment) == _options(other, experiment)
                for ours, other in ((plan.task, theirs.task), (plan.model, theirs.model))
            ):
                return True
    return False


def _component(model: str, catalog: Catalog) -> str:
    """The component behind the name of a model."""
    name = Choice.parse(model).name
    composition = catalog.registry.models.get(name)
    return composition.model if composition else name


def _options(part: Part, experiment: Experiment) -> dict[str, Any]:
    return {name: value for name, value in part.choice.options.items() if name not in experiment.free}
