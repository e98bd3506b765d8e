"""The lab in which a study trains variants of a model and measures them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

from ..data.loading import Source, fingerprints
from ..host.cards import Kind
from ..host.catalog import Catalog
from ..progress import Progress
from ..protocols import Model
from ..request.objects import Objects
from ..request.plan import Part, Plan, Tests
from ..request.resolve import find_part, resolve
from ..request.spec import Choice, RunSpec, Training, digest
from ..results.observations import Measurement
from ..store.identity import plugins_used, weights_name
from ..store.weights import Weights, tensors_hash
from ..types import Batch, Example, Finding, Outputs, TaskData
from .data_cache import load_data_of
from .measuring.attribution import Named
from .measuring.measurement import observe
from .measuring.splits import Split, donors_of
from .outputs import outputs_of, scores_by_example
from .published_values import published_value
from .training.loop import Objective, Trainer, train
from .training.models import TrainedModels, seeded


@dataclass(frozen=True)
class Chosen:
    """A component as it was chosen; two are equal when they are the same thing with the same options."""

    name: str
    options: Mapping[str, Any]  # every one of them, defaults too
    label: str = field(compare=False)  # as a person typed it
    changed: frozenset[str] = field(compare=False)  # options that are not at their defaults


@dataclass(frozen=True, eq=False)
class Setting:
    """A task, a model and its training, with nothing left to decide."""

    task: Chosen
    model: Chosen
    projection: Chosen
    training: Training
    references: tuple[str, ...]  # of the metrics it was asked with


class Lab:
    """A place to train variants of one model on one task: what a study is given."""

    def __init__(
        self,
        asked: RunSpec,
        plan: Plan,
        study: Part,
        catalog: Catalog,
        device: torch.device,
        source: Source,
        weights: Weights,
        progress: Progress,
        objects: Objects | None = None,
        trainer: Trainer = train,
    ) -> None:
        self._objects, self._trainer = objects or {}, trainer
        self._asked = asked  # as the user wrote it: what is not given is decided again for a variant
        self._study = study
        self._catalog = catalog
        self._device, self._source, self._weights, self._progress = device, source, weights, progress
        self._plans: dict[Setting, Plan] = {}
        self.parts_used: list[Part] = []  # besides those of the plan
        self.setting = self._setting(plan)
        self.seeds: tuple[int, ...] = plan.spec.seeds

    @property
    def data(self) -> TaskData:
        """The task's examples, loaded when they are first used."""
        return self._models.data

    def require(self, kind: Kind, name: str) -> None:
        """Raise an error, before any training, if a component is not installed."""
        self._catalog.find(kind, name)

    def options_of(self, model: str) -> frozenset[str]:
        """The names of the options that a model takes."""
        component, _ = self._catalog.find_model(model)
        options = component.load_options()
        return frozenset(options.model_fields) if options else frozenset()

    def variant(self, **changes: Any) -> Setting:
        """The setting with some fields of its spec changed, such as projection="uniform".

        What the user did not give is decided again: another model has its own training settings.
        """
        plan = resolve(
            RunSpec.model_validate({**self._asked.model_dump(), **changes}), self._catalog, self._objects
        )
        self.parts_used += plan.trained
        return self._setting(plan)

    def published(self, experiment: str, column: str, settings: Sequence[Setting] = ()) -> float | None:
        """The value that the registry has for this setting, or for all of these together."""
        found = self._published(experiment, column, settings)
        return found[0] if found else None

    def with_published(
        self, finding: Finding, experiment: str, column: str, settings: Sequence[Setting] = ()
    ) -> Finding:
        """The finding with a published value next to it, if task, model and projection are the paper's."""
        found = self._published(experiment, column, settings)
        return replace(finding, published=found[0], source=found[1]) if found else finding

    def beside(
        self, finding: Finding, experiment: str, column: str, settings: Sequence[Setting] = ()
    ) -> Finding:
        """The old name of `with_published`; it goes with version 0.3."""
        _warn_of_old_name("The method `beside` of Lab", "`with_published`")
        return self.with_published(finding, experiment, column, settings)

    def _published(
        self, experiment: str, column: str, settings: Sequence[Setting]
    ) -> tuple[float, str] | None:
        plans = [self._plans[setting] for setting in settings or [self.setting]]
        return published_value(self._catalog, experiment, column, plans)

    def within(self, study: str) -> Lab:
        """The same lab for another study: models are trained and found as that study would."""
        part = find_part(self._catalog, "study", Choice.parse(study))
        other = Lab(
            self._asked,
            self._plans[self.setting],
            part,
            self._catalog,
            self._device,
            self._source,
            self._weights,
            self._progress,
            self._objects,
        )
        other._models = self._models
        return other

    def model(self, seed: int, setting: Setting | None = None) -> Model:
        """A model trained as the setting says; its weights are stored like those of any run."""
        return self._models.trained(self._plans[setting or self.setting], seed)[0]

    def untrained(self, seed: int, setting: Setting | None = None) -> Model:
        """A model before training."""
        return self._models.untrained(self._plans[setting or self.setting], seed)

    def train(
        self,
        model: Model,
        seed: int,
        name: str,
        *,
        objective: Objective | None = None,
        keep: Literal["best", "last"] = "best",
        setting: Setting | None = None,
        depends_on: Sequence[Model] = (),
        beside: Sequence[Model] | None = None,
    ) -> Model:
        """Train a model that the study made itself.

        Stored weights are used again only if the model starts from the same weights and the models that its
        training `depends_on` have the same weights. Everything else that makes it different, such as a
        setting of the objective, must be part of `name`. `beside` is the old name of `depends_on`; it goes
        with version 0.3.
        """
        if beside is not None:
            _warn_of_old_name("The argument `beside` of Lab.train", "`depends_on`")
            depends_on = (*depends_on, *beside)
        plan = self._plans[setting or self.setting]
        key = ""  # weights of a Python object have no stable name
        if plan.repeatable and self._study.component is not None:
            code = plugins_used([self._study])[0].code
            base = weights_name(plan, self.data, seed, self._device)
            start = [tensors_hash(m.state_dict()) for m in (model, *depends_on)]
            key = digest(base, self._study.choice.name, code, name, *start)
        with seeded(seed):
            self._models.find_or_train(
                model, key, plan.training, seed=seed, label=name, objective=objective, keep=keep
            )
        return model

    def batch(self, model: Model, examples: Sequence[Example]) -> Batch:
        """Examples as a batch, on the model's device."""
        return model.encode(examples).to(self._device)

    def outputs(self, model: Model, examples: Sequence[Example] | None = None) -> Outputs:
        """Probabilities and attention on the test split, or on other examples."""
        some = self.data.test if examples is None else examples
        return outputs_of(model, some, self._device, self._progress)

    def scores(
        self,
        model: Model,
        seed: int,
        explanations: Sequence[str],
        examples: Sequence[Example] | None = None,
    ) -> dict[str, tuple[Tensor, ...]]:
        """The scores [n] of importance methods for the units of every test example, or of other examples."""
        split = Split(model, self.data.test if examples is None else examples, self._device)
        methods = [Named.of(part) for part in self._parts("importance", explanations)]
        found = scores_by_example(model, split, methods, seed, self._progress)
        return dict(zip(explanations, found, strict=True))

    def on(self, data: TaskData) -> Lab:
        """The same lab with other examples: models are trained and tested on these."""
        whole, trained_on = fingerprints(data)
        other = self.within(self._study.label)
        other._plans = self._plans
        other.setting, other.parts_used = self.setting, self.parts_used
        other._models = TrainedModels(
            replace(data, fingerprint=whole, training_fingerprint=trained_on),
            self._device,
            self._weights,
            self._progress,
            self._trainer,
        )
        return other

    def measure(
        self,
        model: Model,
        seed: int,
        metrics: Sequence[str],
        *,
        explanations: Sequence[str] = (),
        references: Sequence[str] = (),
    ) -> tuple[Measurement, ...]:
        """Measure a model's own attention with these metrics, or each of the explanations given."""
        tests = Tests(
            explanations=self._parts("importance", explanations or [self._plans[self.setting].own]),
            references=self._parts("importance", references),
            metrics=self._parts("metric", metrics),
        )
        return observe(
            model,
            Split(model, self.data.test, self._device, donors_of(self.data)),
            tests.map(Named.of),
            seed=seed,
            progress=self._progress,
            label=f"seed {seed}: {', '.join(metrics)}",
        ).measurements

    def _parts(self, kind: Literal["importance", "metric"], names: Sequence[str]) -> tuple[Part, ...]:
        parts = tuple(find_part(self._catalog, kind, Choice.parse(name)) for name in names)
        self.parts_used += parts
        return parts

    def _setting(self, plan: Plan) -> Setting:
        task, model, projection = (
            Chosen(
                name=part.choice.name,
                options=part.choice.options,
                label=part.label,
                changed=frozenset(part.options.model_dump(exclude_defaults=True)),
            )
            if part
            else Chosen(name="", options={}, label="", changed=frozenset())
            for part in (plan.task, plan.model, plan.projection)
        )
        references = tuple(part.label for part in plan.tests.references)
        setting = Setting(task, model, projection, plan.training, references)
        self._plans[setting] = plan
        return setting

    @cached_property
    def _models(self) -> TrainedModels:
        plan = self._plans[self.setting]
        data = load_data_of(plan, self._source)
        return TrainedModels(data, self._device, self._weights, self._progress, self._trainer)


def _warn_of_old_name(old: str, new: str) -> None:
    warnings.warn(
        f"{old} is now {new}; the old name works until version 0.3", DeprecationWarning, stacklevel=3
    )
