"""A plan: every component of a run found, its options checked, nothing left to decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..host.cards import Component, Kind
from .spec import Choice, Options, RunSpec, Training


@dataclass(frozen=True)
class Part:
    """One component of a plan with its options, or an object the caller made himself."""

    kind: Kind
    label: str
    options: Options
    needs: tuple[str, ...]
    provides: tuple[str, ...]
    component: Component | None
    given: Any = None

    @property
    def provider(self) -> str:
        """The plugin with its version; nothing for an object of the caller's own."""
        return self.component.provider if self.component else ""

    @property
    def title(self) -> str:
        """The part as a message names it."""
        return f"{self.kind} '{self.label}'" + (f" of plugin {self.provider}" if self.provider else "")

    @property
    def choice(self) -> Choice:
        """The choice with every option spelled out."""
        name = self.component.name if self.component else self.label
        return Choice(name=name, options=self.options.model_dump(mode="json"))

    @property
    def recommends(self) -> tuple[str, ...]:
        """The usual references of a metric."""
        return self.component.card.recommends if self.component else ()

    def make(self) -> Any:
        """The component itself; a model's class is returned as it is, to be built on data."""
        if self.component is None:
            return self.given
        made = self.component.load()
        if self.kind == "model":
            return made
        return made(self.options) if self.component.card.options else made()


@dataclass(frozen=True)
class Plan:
    """A spec with nothing left to decide."""

    spec: RunSpec
    task: Part
    model: Part
    projection: Part | None  # None for a model that makes its attention itself, or has none
    explanations: tuple[Part, ...]
    baselines: tuple[Part, ...]
    references: tuple[Part, ...]
    metrics: tuple[Part, ...]
    training: Training
    own: str  # the explanation that is the model's attention itself
    chance: str  # the baseline that verdicts compare with, empty where it is not installed
    drawings: tuple[Part, ...] = ()  # figures, which change nothing of what is found
    inversions: Mapping[str, float] = field(default_factory=dict)  # share of each metric in the audit

    @property
    def trained(self) -> tuple[Part, ...]:
        """What a trained model is made of."""
        return (self.task, self.model, *([self.projection] if self.projection else []))

    @property
    def parts(self) -> tuple[Part, ...]:
        return (*self.trained, *self.explanations, *self.baselines, *self.references, *self.metrics)

    @property
    def reads_raw_text(self) -> bool:
        """Whether the model reads texts as their files have them."""
        return "raw-text" in self.model.provides

    @property
    def as_trained(self) -> Plan:
        """The plan that the model is trained by: what says only how it is read is as usual.

        Training that looks at attention depends on how that is read.
        """
        given = self.model.options
        usual = {name: type(given).model_fields[name].get_default() for name in given.reading}
        if not any(getattr(given, name) != value for name, value in usual.items()):
            return self
        if self.training.entropy or self.training.deception:
            return self
        if any(getattr(part.make(), "follows_training", False) for part in self.metrics):
            return self
        return replace(self, model=replace(self.model, options=given.model_copy(update=usual)))

    @property
    def names_weights(self) -> bool:
        """Whether trained weights can be named: the model and its projection are, data by its content."""
        return all(part.component is not None for part in self.trained if part is not self.task)

    @property
    def repeatable(self) -> bool:
        """Whether the spec alone determines the run: not so when an object was passed in."""
        return all(part.component is not None for part in self.parts)
