"""What metrics and studies are given, and what they give back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from torch import Tensor

from ..errors import PluginError
from .batches import Trace
from .examples import Example
from .explained_class import ExplainedClass

if TYPE_CHECKING:
    from ..formulas.randomness import Randomness
    from ..host.cards import TargetUse
    from ..protocols import Model

Direction = Literal["up", "down", "none"]
Family = Literal[
    "agreement",  # agreement with another explanation
    "erasure",  # units are deleted and the model runs again
    "intervention",  # attention is changed and everything else kept
    "ground-truth",  # agreement with units that are known to matter
    "information",  # what hidden states know about the output
    "context",  # how many units a hidden state mixes
    "shape",  # the scores themselves
    "robustness",  # the explanation of an input that is almost the same
    "randomisation",  # the explanation of another model or another class
    "retraining",  # models are trained again
]
Passes = float | Literal["units"]  # passes through the model for one example; "units": one for each unit
DrawingData = np.ndarray[Any, Any] | tuple[str, ...]  # what a drawing stores: numbers, or texts
Sees = Literal[  # what a metric looks at
    "units", "hidden states", "attention layer", "scores", "explanations", "rationale"
]
RemovalName = Literal["delete", "replace"]  # the example gets shorter, or other units stand in
Question = Literal["comprehensiveness", "sufficiency"]  # does removing matter, is keeping enough
Order = Literal[
    "explanation",  # units in the order of the explanation
    "random",  # the mean over random orders
    "search",  # the best order that a search found
    "delete-search",  # the best order that a search under deletion found
    "worst",  # the worst order found
    "signed",  # the explanation's sizes with the signs of leave-one-out
    "random-signed",  # the mean over random sizes with the same signs
]
TestSetting = Literal["all", "small sets", "large sets", "first draws", "last draws"]  # of the removal test


@dataclass(frozen=True, slots=True)
class Importance:
    """The scores of one importance method for a batch, and what they cost.

    Attributes:
        method: the name of the method.
        values: a score for every unit [B, L], 0 outside the mask.
        target: the class that is explained [B].
        seconds: how long it took.
        passes: how many examples were sent through the model.
        on_cpu: whether it was computed on the CPU although the model is on another device.
        signed: whether the method declares that a negative score speaks against the class.
        reused: whether it was computed earlier and kept; seconds and passes are those of then.
    """

    method: str
    values: Tensor  # [B, L]
    target: Tensor  # [B]
    seconds: float = 0.0
    passes: int = 0
    on_cpu: bool = False
    signed: bool = False
    reused: bool = False


class Explainer(Protocol):
    """The method of an explanation, to explain another input, another class or another model.

    Attributes:
        target_use: how scores depend on the explained class, as for `ImportanceMethod`.
    """

    @property
    def target_use(self) -> TargetUse:
        """How scores depend on the explained class."""
        ...

    def __call__(self, model: Model, trace: Trace, target: Tensor, /) -> Tensor:
        """Explain.

        Args:
            model: the model.
            trace: its forward pass on a batch.
            target: the class that is explained [B].

        Returns:
            The scores [B, L], 0 outside the mask.
        """
        ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that a metric may use: one batch with its explanation, and the model.

    Attributes:
        trace: the forward pass of the model on the batch.
        explanation: the explanation that is measured.
        compared: the explanation it is compared with, or None; metrics read it as `reference`.
        model: the model, to run it again.
        random: random numbers that belong to the examples, not to their place in the batch.
        explainer: the method of the explanation, or None if its scores were given and not computed.
    """

    trace: Trace
    explanation: Importance
    compared: Importance | None
    model: Model
    random: Randomness
    explainer: Explainer | None = None

    @property
    def reference(self) -> Importance:
        """The explanation to compare with; a metric that reads it declares needs = ("reference",)."""
        if self.compared is None:
            raise PluginError('a metric that reads the reference must declare needs = ("reference",)')
        return self.compared


@dataclass(frozen=True, slots=True)
class RemovalColumn:
    """What a measure of the removal test is about: the verdict on faithfulness is made of these.

    Attributes:
        removal: how units are removed.
        order: in which order units are removed and kept; None for the disturbance, which is how far removing
            random units moves the output.
        question: which of the two questions; None for both together, comprehensiveness − sufficiency.
        setting: which part of the test; "all" for the whole.
        size: the percentage of units that is removed and kept; None for the mean over all.
    """

    removal: RemovalName
    order: Order | None
    question: Question | None = None
    setting: TestSetting = "all"
    size: float | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One number that a metric gives for every example.

    Attributes:
        name: its name.
        direction: which way is better: "up", "down" or "none".
        bounds: the smallest and the largest possible value.
        best: the best attainable value, if it is not the bound on the better side.
        easier: which way is easier to read for a person, if neither way is more faithful.
        midpoint: the value that is neither good nor bad, if there is no random baseline for it.
        column: what it is in the removal test, for the metric that decides about faithfulness.
        shown: whether tables and pages show it; False for what only the verdict is computed from.
    """

    name: str
    direction: Direction
    bounds: tuple[float, float]
    best: float | None = None
    easier: Direction = "none"
    midpoint: float | None = None
    column: RemovalColumn | None = None
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Axis:
    """The horizontal axis of a metric's curve.

    Attributes:
        name: the name of the curve.
        label: the label of the axis.
        points: where the curve has values.
    """

    name: str
    label: str
    points: tuple[float, ...]


class WithCurve(NamedTuple):
    """The result of a metric that draws a curve.

    Attributes:
        values: [B] for one measure, [B, M] for several.
        curve: one curve for every example [B, points of the axis]; attnx averages them.
    """

    values: Tensor
    curve: Tensor


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known about a split before it is measured.

    Attributes:
        unit_counts: how many units every example has [N].
        donors: training examples whose units can stand in for others; the same for every batch.
        explained: the class, or the contrast of two, that explanations explain.
    """

    unit_counts: Tensor
    donors: tuple[Example, ...] = ()
    explained: ExplainedClass = field(default_factory=ExplainedClass)


@dataclass(frozen=True, slots=True)
class JointEvidence:
    """What a metric of all explanations together may use: one batch with its explanations, and the model.

    Attributes:
        trace: the forward pass of the model on the batch.
        explanations: the explanations that are measured, by name.
        model: the model, to run it again.
        random: random numbers that belong to the examples, not to their place in the batch.
        corpus: what is known about the whole split.
    """

    trace: Trace
    explanations: Mapping[str, Importance]
    model: Model
    random: Randomness
    corpus: Corpus


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The result of a metric for a whole split.

    Attributes:
        values: one value per measure [M].
        curves: axes, each with the values at its points.
    """

    values: Tensor
    curves: tuple[tuple[Axis, Tensor], ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One measure in one setting of a study.

    Attributes:
        setting: the name of the setting.
        measure: what was measured.
        direction: which way is better: "up", "down" or "none".
        values: the values by seed and example [S, N], or by seed [S, 1].
        published: the value in the paper, if there is one.
        source: where the published value is printed.
        bounds: the smallest and the largest possible value; intervals stay inside.
    """

    setting: str
    measure: str
    direction: Direction
    values: np.ndarray[Any, np.dtype[np.float64]]
    published: float | None = None
    source: str = ""
    bounds: tuple[float, float] = (-math.inf, math.inf)
