"""Turns a spec into a plan: finds every component, checks every option and every combination.

Nothing here imports the code of a component, so a bad request is refused at once. `refusals` has the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import UsageError
from ..host.cards import Component, Kind
from ..host.catalog import Catalog
from ..registry.schema import Composition
from . import refusals
from .choices import (
    ALL,
    NONE,
    applicable_references,
    choose_metrics,
    choose_references,
    fits_explained_class,
    only_quality,
)
from .objects import Objects, given_part
from .plan import Part, Plan, Tests
from .spec import Choice, Options, RunSpec, Training, validate_options


def resolve(spec: RunSpec, catalog: Catalog, objects: Objects | None = None) -> Plan:
    """Find and check everything that a spec names; refuse what cannot work, with the reason."""
    finder = _Finder(catalog, objects or {})
    usual = catalog.registry.defaults
    task = finder.part("task", spec.task or _usual("task", usual.task))
    model, projection, training = finder.model(spec, task)
    if training.deception:
        needed = ("rationale", "attention")
        _require("training with deception", needed, {*task.provides, *model.provides}, task, model, catalog)
    if training.entropy:
        _require("training with entropy", ("attention",), model.provides, task, model, catalog)
    tests = finder.tests(spec, task, model)
    provided = {*task.provides, *model.provides, *(["reference"] if tests.references else [])}
    plan = Plan(
        spec=spec,
        task=task,
        model=model,
        projection=projection,
        tests=tests,
        training=training,
        own=next(iter(usual.explanations), ""),
        chance=next((part.label for part in tests.baselines if part.label == usual.baselines[0]), ""),
        drawings=tuple(
            finder.part("drawing", Choice(name=drawing.name))
            for drawing in catalog.of_kind("drawing")
            if provided.issuperset(drawing.needs)
        ),
        inversions=_inversions(tests.metrics, catalog),
        repairs=usual.repairs,
    )
    return _spelled_out(plan)


def resolve_tests(
    plan: Plan,
    explanations: tuple[Choice, ...],
    metrics: tuple[Choice, ...],
    catalog: Catalog,
    objects: Objects | None = None,
) -> Plan:
    """The plan with other explanations and metrics; without either, the usual explanation and no metric.

    Metrics compare with those of their usual references that the model supports.
    """
    finder = _Finder(catalog, objects or {})
    named = [finder.part("metric", choice) for choice in metrics if choice.name not in (ALL, NONE)]
    provided = {*plan.task.provides, *plan.model.provides}
    usual = dict.fromkeys(applicable_references(named, catalog, provided))
    asked = {
        "explanations": explanations,
        "references": tuple(Choice(name=name) for name in usual),
        "metrics": metrics or (Choice(name=NONE),),
    }
    spec = plan.spec.model_copy(update=asked)
    return replace(plan, tests=finder.tests(spec, plan.task, plan.model))


def _usual(what: str, name: str) -> Choice:
    """The default that the registry names; refused if it names none."""
    if not name:
        raise refusals.no_default(what)
    return Choice.parse(name)


def _inversions(metrics: Iterable[Part], catalog: Catalog) -> dict[str, float]:
    """The share of comparisons in the audit in which each metric preferred the wrong explanation."""
    audited = catalog.registry.audit
    return {
        part.label: audited[part.component.name].share
        for part in metrics
        if part.component and part.component.name in audited
    }


@dataclass(frozen=True)
class _Finder:
    catalog: Catalog
    objects: Objects

    def part(self, kind: Kind, choice: Choice) -> Part:
        given = self.objects.get((kind, choice.name))
        if given is not None:
            return given_part(kind, choice.name, given.thing, given.options)
        part = _part(self.catalog.find(kind, choice.name), choice)
        return self._wrapping(part) if part.options.wraps else part

    def _wrapping(self, part: Part) -> Part:
        """A task that is made from another, with what that one needs and provides."""
        inner = self.part("task", Choice.parse(getattr(part.options, part.options.wraps)))
        if "words" not in inner.provides:
            raise refusals.wraps_no_words(part, inner)
        return replace(
            part,
            needs=tuple(dict.fromkeys((*part.needs, *inner.needs))),
            provides=tuple(dict.fromkeys((*part.provides, *inner.provides))),
            inner=inner,
        )

    def model(self, spec: RunSpec, task: Part) -> tuple[Part, Part | None, Training]:
        """The model with its projection and training; what the user gives replaces defaults."""
        usual = next(iter(task.component.card.recommends), "") if task.component else ""
        if spec.model is None and not usual:
            raise refusals.no_recommended_model(task)
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

    def tests(self, spec: RunSpec, task: Part, model: Part) -> Tests[Part]:
        """Explanations, references, metrics and baselines; what task and model do not support is refused."""
        catalog = self.catalog
        chosen = spec.explanations or [self.usual_explanation(model)]
        explanations = tuple(self.part("importance", choice) for choice in chosen)
        baselines = tuple(
            self.part("importance", Choice(name=name))
            for name in catalog.registry.defaults.baselines
            if ("importance", name) in catalog.components
        )
        provided = {*task.provides, *model.provides}
        metrics = choose_metrics(spec, catalog, provided, lambda choice: self.part("metric", choice))
        for metric in metrics:
            if not fits_explained_class(metric, spec):
                raise refusals.marked_for_the_label(metric, spec.target)
        references = tuple(
            self.part("importance", choice) for choice in choose_references(spec, metrics, catalog, provided)
        )
        provided |= {"reference"} if references else set()
        if not metrics and not only_quality(spec):
            raise refusals.no_metric(task, model)
        for part in (task, model, *explanations, *references, *metrics):
            _require(f"{part.kind} '{part.label}'", part.needs, provided, task, model, catalog)
        if spec.references and not any("reference" in metric.needs for metric in metrics):
            raise refusals.unused_reference(references[0], catalog)
        _distinct("explanation", explanations)
        _distinct("reference", references)
        _distinct("metric", metrics)
        if metrics and all(metric.joint for metric in metrics):  # they have random orders of their own
            baselines = ()
        known = {part.label for part in (*explanations, *references)}
        alternatives = self._alternatives(provided) if any(metric.joint for metric in metrics) else []
        return Tests(
            explanations,
            references,
            metrics,
            baselines,
            tuple(part for part in alternatives if part.label not in known),
        )

    def _alternatives(self, provided: set[str]) -> list[Part]:
        """The methods that are ranked in every run: those that are installed and apply."""
        usual = [
            self.part("importance", Choice.parse(name))
            for name in self.catalog.registry.defaults.alternatives
            if ("importance", Choice.parse(name).name) in self.catalog.components
        ]
        return [part for part in usual if provided.issuperset(part.needs)]

    def usual_explanation(self, model: Part) -> Choice:
        """The first default explanation that a model supports."""
        usual = self.catalog.registry.defaults.explanations or ("",)
        for choice in (_usual("explanation", name) for name in usual):
            if set(model.provides).issuperset(self.part("importance", choice).needs):
                return choice
        raise refusals.no_usual_explanation(model, usual)

    def _projection(self, model: Part, spec: RunSpec, usual: str) -> Part | None:
        """The given projection or the default one; None for a model without a choice of projection."""
        if "projection" in model.provides:
            usual = usual or self.catalog.registry.defaults.projection
            return self.part("projection", spec.projection or _usual("projection", usual))
        if spec.projection is not None:
            raise refusals.projection_not_used(model)
        return None

    def _ready(self, name: str, model: Any, spec: RunSpec) -> tuple[Part, Part | None, Training]:
        """A trained model with its own projection; it is not trained again."""
        if spec.projection is not None or spec.training:
            what = "projection" if spec.projection is not None else "training"
            raise refusals.already_trained(name, what)
        if len(spec.seeds) > 1:
            raise refusals.one_model_for_seeds(name, len(spec.seeds))
        part = given_part("model", name, model)
        if "projection" not in part.provides:
            return part, None, Training()
        return part, given_part("projection", type(model.projection).__name__, model.projection), Training()


def _check_composition(component: Component, composition: Composition) -> None:
    """Report a named model that does not fit its component as an error of the registry, not of the user."""
    try:
        _part(component, Choice(name=component.name, options=composition.options))
        validate_options(Training, composition.training, "training")
    except UsageError as error:
        raise refusals.broken_composition(composition.model, error) from error


def find_part(catalog: Catalog, kind: Kind, choice: Choice, objects: Objects | None = None) -> Part:
    """One component with its options checked."""
    return _Finder(catalog, objects or {}).part(kind, choice)


def require_capabilities(part: Part, plan: Plan, catalog: Catalog) -> None:
    """Refuse a part that needs what the task and model of a plan do not provide."""
    provided = {*plan.task.provides, *plan.model.provides}
    _require(f"{part.kind} '{part.label}'", part.needs, provided, plan.task, plan.model, catalog)


def _part(component: Component, choice: Choice, preset: Mapping[str, Any] | None = None) -> Part:
    options_class = component.load_options() or Options
    options = validate_options(
        options_class, {**(preset or {}), **choice.options}, f"{component.kind} '{component.name}'"
    )
    needs = (*component.needs, *options.also_needs)
    provides = (*component.provides, *options.also_provides)
    return Part(component.kind, choice.label, options, needs, provides, component, asked=choice)


def _require(
    what: str, needs: Iterable[str], provided: Iterable[str], task: Part, model: Part, catalog: Catalog
) -> None:
    for need in needs:
        if need not in provided:
            raise refusals.lacks(what, need, task, model, catalog)


def _distinct(what: str, parts: tuple[Part, ...]) -> None:
    labels = [part.label for part in parts]
    for label in labels:
        if labels.count(label) > 1:
            raise refusals.asked_twice(what, label)


def _spelled_out(plan: Plan) -> Plan:
    """The plan with every default written into its spec, so that equal runs have equal specs."""
    spec = plan.spec.model_copy(
        update={
            "task": plan.task.choice,
            "model": plan.model.choice,
            "projection": plan.projection.choice if plan.projection else None,
            "explanations": tuple(part.choice for part in plan.tests.explanations),
            "references": tuple(part.choice for part in plan.tests.references),
            "metrics": tuple(part.choice for part in plan.tests.metrics) or (Choice(name=NONE),),
            "training": plan.training.model_dump(),
        }
    )
    return replace(plan, spec=spec)
