"""Plans a test with a planted trigger: one run for every trigger, checked before anything is trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..errors import UsageError
from ..host.cards import Kind
from ..host.catalog import Catalog
from .objects import Objects
from .plan import Plan
from .resolve import find_part, resolve
from .spec import Choice, RunSpec, Training

TASK: Final = "planted"  # the task that puts a trigger into another
FOUND: Final = "plausibility"  # the metric that compares an explanation with the trigger words
REMOVAL: Final = "faithfulness"  # the ordinary test, shown next to it
MOST_TRIGGERS: Final = 100
FINE_TUNED: Final[dict[str, Any]] = {"epochs": 3, "learning_rate": 1e-4, "clip": 1.0}  # of pretrained models


@dataclass(frozen=True)
class PlantedPlan:
    """The same task and model with one trigger after the other."""

    task: str  # as the user named it
    plans: tuple[Plan, ...]  # by trigger


def plan_planted(
    spec: RunSpec,
    settings: Mapping[str, Any],
    triggers: int,
    catalog: Catalog,
    objects: Objects | None = None,
    *,
    removal: bool = True,
) -> PlantedPlan:
    """Resolve a run for every trigger; `settings` are options of the task that plants it.

    Without `removal` the ordinary removal test is left out, which costs much more than the rest.

    Raises:
        UsageError: a name or an option is wrong, or the parts do not fit together.
    """
    if spec.task is not None and spec.task.name == TASK:
        raise UsageError(
            f"The task '{spec.task.label}' has a planted trigger already. Give the task of texts itself, "
            "e.g. --task rotten-tomatoes."
        )
    if not 1 <= triggers <= MOST_TRIGGERS:
        raise UsageError(f"{triggers} triggers were asked for: give a number from 1 to {MOST_TRIGGERS}.")
    if settings.get("words") and triggers > 1:
        raise UsageError(
            f"The trigger words are given, so there is one trigger, not {triggers}. Leave the words out to "
            "have several triggers drawn from the texts."
        )
    catalog.find("task", TASK)
    wrapped = {} if spec.task is None else {"task": spec.task.label}
    plans = []
    for number in range(triggers):
        chosen = Choice(name=TASK, options={**wrapped, **settings, "seed": number})
        plans.append(_plan(spec.model_copy(update={"task": chosen}), catalog, objects, removal))
    return PlantedPlan(plans[0].task.with_inner[1].label, tuple(plans))


def _plan(spec: RunSpec, catalog: Catalog, objects: Objects | None, removal: bool) -> Plan:
    """One run: every explanation that the model supports, or those that were asked for, is tested."""
    plain = spec.model_copy(update={"metrics": (Choice(name=FOUND),)})
    usual = resolve(plain.model_copy(update={"explanations": (), "training": {}}), catalog, objects)
    if _pretrained(usual):
        plain = plain.model_copy(update={"training": {**FINE_TUNED, **spec.training}})
    provided = {*usual.task.provides, *usual.model.provides}

    def applicable(kind: Kind, names: Iterable[str]) -> tuple[Choice, ...]:
        chosen = [Choice.parse(name) for name in names]
        return tuple(
            choice
            for choice in chosen
            if (kind, choice.name) in catalog.components
            and provided.issuperset(find_part(catalog, kind, choice).needs)
        )

    explanations = spec.explanations or applicable("importance", catalog.registry.defaults.planted)
    metrics = applicable("metric", (REMOVAL, FOUND) if removal else (FOUND,))
    asked = {"explanations": explanations, "metrics": metrics}
    return resolve(plain.model_copy(update=asked), catalog, objects)


def _pretrained(plan: Plan) -> bool:
    """Whether a model is not trained at all by default, or is a transformer without settings of its own.

    The settings of models that are trained from scratch would destroy what it knows.
    """
    provided = plan.model.provides
    tuned = {"layers", "unseen-words"}.issubset(provided) and "frozen-states" not in provided
    return not plan.trains or (tuned and plan.training == Training())
