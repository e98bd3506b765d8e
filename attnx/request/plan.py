"""A plan: every component of a run found, its options checked, nothing left to decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

from ..host.cards import Component, Kind
from .spec import Choice, Options, RunSpec, Training

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Tests(Generic[T]):
    """What a run tests: explanations with metrics, compared with references and baselines.

    T is what stands for a component: a part of a plan, the component itself, or its label.
    """

    __test__: ClassVar[bool] = False  # pytest takes a class of this name for test cases otherwise

    explanations: tuple[T, ...] = ()
    references: tuple[T, ...] = ()
    metrics: tuple[T, ...] = ()
    baselines: tuple[T, ...] = ()
    alternatives: tuple[T, ...] = ()  # ranked next to the explanations, to say what to use instead

    @property
    def roles(self) -> tuple[tuple[T, ...], ...]:
        """What is tested and with what, in the order of the fields."""
        return self.explanations, self.references, self.metrics, self.baselines, self.alternatives

    @property
    def methods(self) -> tuple[T, ...]:
        """Everything that gives importance scores."""
        return (*self.explanations, *self.baselines, *self.references, *self.alternatives)

    def map(self, change: Callable[[T], U]) -> Tests[U]:
        """The same tests with something else in the place of every component."""
        return Tests(*(tuple(map(change, role)) for role in self.roles))


@dataclass(frozen=True)
class Part:
    """One component of a plan with its options, or an object that the caller made."""

    kind: Kind
    label: str
    options: Options
    needs: tuple[str, ...]
    provides: tuple[str, ...]
    component: Component | None
    given: Any = None
    asked: Choice | None = None  # the name and the options that were given; None for an object
    inner: Part | None = None  # the task that a task is made from

    @property
    def provider(self) -> str:
        """The plugin with its version; empty for an object that the caller made."""
        return self.component.provider if self.component else ""

    @property
    def title(self) -> str:
        """The part as error messages call it."""
        return f"{self.kind} '{self.label}'" + (f" of plugin {self.provider}" if self.provider else "")

    @property
    def choice(self) -> Choice:
        """The choice with every option spelled out."""
        name = self.component.name if self.component else self.label
        return Choice(name=name, options=self.options.model_dump(mode="json"))

    @property
    def joint(self) -> bool:
        """Whether a metric measures all explanations together, to rank them."""
        return self.component.joint if self.component else bool(getattr(self.given, "joint", False))

    @property
    def family(self) -> str:
        """What a metric tests."""
        return self.component.family if self.component else str(getattr(self.given, "family", ""))

    @property
    def recommends(self) -> tuple[str, ...]:
        """The usual references of a metric."""
        return self.component.card.recommends if self.component else ()

    def make(self) -> Any:
        """Make the component; a model's class is returned unchanged, because it is built on data."""
        if self.component is None:
            return self.given
        made = self.component.load()
        if self.kind == "model":
            return made
        inner = () if self.inner is None else (self.inner.make(),)
        return made(self.options, *inner) if self.component.card.options else made()

    @property
    def with_inner(self) -> tuple[Part, ...]:
        """The part, and the task that it is made from, if there is one."""
        return (self,) if self.inner is None else (self, *self.inner.with_inner)


@dataclass(frozen=True)
class Plan:
    """A spec with nothing left to decide."""

    spec: RunSpec
    task: Part
    model: Part
    projection: Part | None  # None for a model that makes its attention itself, or has none
    tests: Tests[Part]
    training: Training
    own: str  # the explanation that is the model's attention itself
    chance: str  # the baseline that verdicts compare with, empty where it is not installed
    drawings: tuple[Part, ...] = ()  # figures, which change no result
    inversions: Mapping[str, float] = field(default_factory=dict)  # share of each metric in the audit
    repairs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # methods that mend another

    @property
    def trained(self) -> tuple[Part, ...]:
        """What a trained model is made of."""
        return (self.task, self.model, *([self.projection] if self.projection else []))

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every component that results depend on."""
        return (*self.trained, *self.task.with_inner[1:], *self.tests.methods, *self.tests.metrics)

    @property
    def trains(self) -> bool:
        """Whether a model is trained: not one that is given trained, nor a pretrained one without epochs."""
        if self.model.component is None and not isinstance(self.model.given, type):
            return False
        return self.training.epochs > 0 or "unseen-words" not in self.model.provides

    @property
    def reads_raw_text(self) -> bool:
        """Whether the model reads texts as their files have them."""
        return "raw-text" in self.model.provides

    @property
    def as_trained(self) -> Plan:
        """The plan that determines training: options that say how attention is read have their defaults.

        Training that uses attention depends on how attention is read, so it keeps them.
        """
        given = self.model.options
        usual = {name: type(given).model_fields[name].get_default() for name in given.reading}
        if not any(getattr(given, name) != value for name, value in usual.items()):
            return self
        if self.training.entropy or self.training.deception:
            return self
        if any(getattr(part.make(), "follows_training", False) for part in self.tests.metrics):
            return self
        return replace(self, model=replace(self.model, options=given.model_copy(update=usual)))

    @property
    def names_weights(self) -> bool:
        """Whether trained weights can be named: model and projection have names, data is named by content."""
        return all(part.component is not None for part in self.trained if part is not self.task)

    @property
    def repeatable(self) -> bool:
        """Whether the spec alone determines the run: False if an object was passed in."""
        return all(part.component is not None for part in self.parts)
