"""From a spec to a plan: every name found, every option checked, every pairing judged.

Nothing here imports a component's code, so a bad request is refused at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import PluginError, UsageError
from ..host.cards import CAPABILITIES, Component, Kind
from ..host.catalog import Catalog
from ..registry.schema import Composition
from .choices import NONE, choose_metrics, choose_references, quality_alone
from .objects import Objects, given_part
from .plan import Part, Plan
from .spec import Choice, Options, RunSpec, Training, validate_options

_OF_MODELS = ("attention", "reattend", "projection", "gradient", "hidden", "decode", "deletion")


def resolve(spec: RunSpec, catalog: Catalog, objects: Objects | None = None) -> Plan:
    """Find and check everything a spec names; refuse what cannot work, with the reason."""
    finder = _Finder(catalog, objects or {})
    usual = catalog.registry.defaults
    task = finder.part("task", spec.task or _usual("task", usual.task))
    model, projection, training = finder.model(spec, task)
    if training.deception:
        needed = ("rationale", "attention")
        _require("training with deception", needed, {*task.provides, *model.provides}, task, model, catalog)
    if training.entropy:
        _require("training with entropy", ("attention",), model.provides, task, model, catalog)
    asked = spec.explanations or [finder.usual_explanation(model)]
    explanations = tuple(finder.part("importance", choice) for choice in asked)
    baselines = tuple(
        finder.part("importance", Choice(name=name))
        for name in usual.baselines
        if ("importance", name) in catalog.components
    )
    provided = {*task.provides, *model.provides}
    metrics = choose_metrics(spec, catalog, provided, lambda choice: finder.part("metric", choice))
    references = tuple(
        finder.part("importance", choice) for choice in choose_references(spec, metrics, catalog, provided)
    )
    provided |= {"reference"} if references else set()
    if not metrics and not quality_alone(spec):
        raise UsageError(f"No installed metric applies to task '{task.label}' with model '{model.label}'.")
    for part in (task, model, *explanations, *references, *metrics):
        _require(f"{part.kind} '{part.label}'", part.needs, provided, task, model, catalog)
    if spec.references and not any("reference" in metric.needs for metric in metrics):
        comparing = [c.name for c in catalog.of_kind("metric") if "reference" in c.needs]
        raise UsageError(
            f"No metric compares with the reference '{references[0].label}': leave it out, or ask for one "
            f"that does. These do: {', '.join(comparing) or 'none installed'}."
        )
    _distinct("explanation", explanations)
    _distinct("reference", references)
    _distinct("metric", metrics)
    plan = Plan(
        spec=spec,
        task=task,
        model=model,
        projection=projection,
        explanations=explanations,
        baselines=baselines,
        references=references,
        metrics=metrics,
        training=training,
        own=next(iter(usual.explanations), ""),
        chance=next((part.label for part in baselines if part.label == usual.baselines[0]), ""),
        drawings=tuple(
            finder.part("drawing", Choice(name=drawing.name))
            for drawing in catalog.of_kind("drawing")
            if provided.issuperset(drawing.needs)
        ),
        inversions=_inversions(metrics, catalog),
    )
    return _spelled_out(plan)


def _usual(what: str, name: str) -> Choice:
    """The default of the registry."""
    if not name:
        raise UsageError(f"No {what} is named, and the registry has no default: give one with --{what}.")
    return Choice.parse(name)


def _inversions(metrics: Iterable[Part], catalog: Catalog) -> dict[str, float]:
    """The share of the audit's comparisons in which each metric preferred what is known to be wrong."""
    audited = catalog.registry.audit
    names = [part.component.name for part in metrics if part.component]
    return {name: audited[name].share for name in names if name in audited}


@dataclass(frozen=True)
class _Finder:
    catalog: Catalog
    objects: Objects

    def part(self, kind: Kind, choice: Choice) -> Part:
        given = self.objects.get((kind, choice.name))
        if given is not None:
            return given_part(kind, choice.name, given.thing, given.options)
        return _part(self.catalog.find(kind, choice.name), choice)

    def model(self, spec: RunSpec, task: Part) -> tuple[Part, Part | None, Training]:
        """The model with its projection and training: the user's word before any default's."""
        usual = next(iter(task.component.card.recommends), "") if task.component else ""
        if spec.model is None and not usual:
            raise UsageError(f"Task '{task.label}' recommends no model: name one with --model.")
        choice = spec.model or Choice(name=usual)
        given = self.objects.get(("model", choice.name))
        if given is not None and not isinstance(given.thing, type):
            return self._ready(choice.name, given.thing, spec)
        if given is not None:
            model = given_part("model", choice.name, given.thing, given.options)
            projection, training = "", {}
        else:
            component, composition = self.catalog.find_model(choice.name)
            if composition is None:  # what the task recommends, when that is this very model
                recommended = self.catalog.registry.models.get(usual)
                composition = recommended if recommended and recommended.model == component.name else None
            preset = composition.options if composition else {}
            if composition is not None:
                _check_composition(component, composition)
            model = _part(component, choice, preset)
            projection = composition.projection if composition else ""
            training = composition.training if composition else {}
        options = validate_options(Training, {**training, **spec.training}, "training")
        assert isinstance(options, Training)
        return model, self._projection(model, spec, projection), options

    def usual_explanation(self, model: Part) -> Choice:
        """The first usual explanation that a model can give."""
        usual = self.catalog.registry.defaults.explanations or ("",)
        for choice in (_usual("explanation", name) for name in usual):
            if set(model.provides).issuperset(self.part("importance", choice).needs):
                return choice
        raise UsageError(
            f"Model '{model.label}' gives none of the usual explanations ({', '.join(usual)}): name one "
            "with --explanation."
        )

    def _projection(self, model: Part, spec: RunSpec, usual: str) -> Part | None:
        """The user's or the usual one; none for a model that has no use for one."""
        if "projection" in model.provides:
            usual = usual or self.catalog.registry.defaults.projection
            return self.part("projection", spec.projection or _usual("projection", usual))
        if spec.projection is not None:
            raise UsageError(
                f"Model '{model.label}' does not provide {CAPABILITIES['projection']} ('projection'): "
                "give it none."
            )
        return None

    def _ready(self, name: str, model: Any, spec: RunSpec) -> tuple[Part, Part | None, Training]:
        """A trained model as it is, with its own projection."""
        if spec.projection is not None or spec.training:
            what = "projection" if spec.projection is not None else "training"
            raise UsageError(f"'{name}' is a trained model and is measured as it is: give it no {what}.")
        if len(spec.seeds) > 1:
            count = len(spec.seeds)
            raise UsageError(
                f"'{name}' is one trained model, which {count} seeds would count {count} times. "
                "Give one seed, or the model's class, which is trained with each."
            )
        part = given_part("model", name, model)
        if "projection" not in part.provides:
            return part, None, Training()
        return part, given_part("projection", type(model.projection).__name__, model.projection), Training()


def _check_composition(component: Component, composition: Composition) -> None:
    """Blame the registry, not the user, for a composition that does not fit its model."""
    try:
        _part(component, Choice(name=component.name, options=composition.options))
        validate_options(Training, composition.training, "training")
    except UsageError as error:
        raise PluginError(f"the registry's composition of '{composition.model}' is wrong: {error}") from error


def find_part(catalog: Catalog, kind: Kind, choice: Choice, objects: Objects | None = None) -> Part:
    """One component by itself, with its options checked."""
    return _Finder(catalog, objects or {}).part(kind, choice)


def require_capabilities(part: Part, plan: Plan, catalog: Catalog) -> None:
    """Refuse a part that needs what the plan's task and model do not give."""
    provided = {*plan.task.provides, *plan.model.provides}
    _require(f"{part.kind} '{part.label}'", part.needs, provided, plan.task, plan.model, catalog)


def _part(component: Component, choice: Choice, preset: Mapping[str, Any] | None = None) -> Part:
    options_class = component.load_options() or Options
    options = validate_options(
        options_class, {**(preset or {}), **choice.options}, f"{component.kind} '{component.name}'"
    )
    needs = (*component.needs, *options.also_needs)
    provides = (*component.provides, *options.also_provides)
    return Part(component.kind, choice.label, options, needs, provides, component)


def _require(
    what: str, needs: Iterable[str], provided: Iterable[str], task: Part, model: Part, catalog: Catalog
) -> None:
    for need in needs:
        if need not in provided:
            words = f"{CAPABILITIES[need]} ('{need}')" if need in CAPABILITIES else f"'{need}'"
            providers = [
                component.name
                for kind in ("task", "model")
                for component in catalog.of_kind(kind)
                if need in _usually_provides(component)
            ]
            remedy = (
                "Give one with --reference."
                if need == "reference"
                else (f"These do: {', '.join(providers) or 'none installed'}.")
            )
            if model.component is None and need in _OF_MODELS:
                remedy += f" If your model can, declare '{need}' in its provides."
            raise UsageError(
                f"{what} needs {words}, which task '{task.label}' with model "
                f"'{model.label}' does not give. {remedy}"
            )


def _usually_provides(component: Component) -> tuple[str, ...]:
    """What a component provides with its default options; those of a user's choosing are not known."""
    try:
        provides, options, demanding = component.provides, component.load_options(), component.demanding
    except PluginError:  # of a component that nobody asked for
        return ()
    if options is None or demanding:
        return provides
    return (*provides, *options().also_provides)


def _distinct(what: str, parts: tuple[Part, ...]) -> None:
    labels = [part.label for part in parts]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"The {what} '{label}' is asked for twice.")


def _spelled_out(plan: Plan) -> Plan:
    """The plan with a spec in which every default is written, so that equal runs have equal specs."""
    spec = plan.spec.model_copy(
        update={
            "task": plan.task.choice,
            "model": plan.model.choice,
            "projection": plan.projection.choice if plan.projection else None,
            "explanations": tuple(part.choice for part in plan.explanations),
            "references": tuple(part.choice for part in plan.references),
            "metrics": tuple(part.choice for part in plan.metrics) or (Choice(name=NONE),),
            "training": plan.training.model_dump(),
        }
    )
    return replace(plan, spec=spec)
