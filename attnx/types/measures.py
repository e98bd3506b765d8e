"""What metrics and studies are given, and what they give back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from torch import Tensor

from ..errors import PluginError
from .batches import Trace

if TYPE_CHECKING:
    from ..formulas.randomness import Randomness
    from ..protocols import Model

Direction = Literal["up", "down", "none"]
Family = Literal[
    "agreement",  # with another explanation
    "erasure",  # units taken away, everything recomputed
    "intervention",  # attention changed, everything else held
    "ground-truth",  # with units that are known to matter
    "information",  # in hidden states about the output
    "context",  # of what a hidden state speaks
    "shape",  # of the scores themselves
    "retraining",
]
Passes = float | Literal["units"]  # through the model, for one example; units: one for each of its units
DrawingData = np.ndarray[Any, Any] | tuple[str, ...]  # of a drawing: numbers, or texts
Sees = Literal["units", "hidden states", "attention layer", "scores", "rationale"]  # what a test can see


@dataclass(frozen=True, slots=True)
class Importance:
    """One score for every unit, and what it cost to get them."""

    method: str
    values: Tensor  # [B, L], 0 off the mask
    target: Tensor  # [B] the class that is explained
    seconds: float = 0.0
    passes: int = 0  # examples sent through the model
    on_cpu: bool = False  # computed there, though the model is elsewhere


@dataclass(frozen=True, slots=True)
class Evidence:
    """All a metric may look at: one batch, one explanation, the model to intervene on."""

    trace: Trace
    explanation: Importance
    compared: Importance | None
    model: Model
    random: Randomness

    @property
    def reference(self) -> Importance:
        """What the explanation is compared with; a metric that reads it declares that it needs one."""
        if self.compared is None:
            raise PluginError('a metric that reads the reference must declare needs = ("reference",)')
        return self.compared


@dataclass(frozen=True, slots=True)
class Measure:
    """One number a metric gives for every example."""

    name: str
    direction: Direction  # which way is better
    bounds: tuple[float, float]
    best: float | None = None  # the best attainable, where that is not the bound on the better side
    easier: Direction = "none"  # which way is easier to use for a person, where neither is more true
    midpoint: float | None = None  # neither good nor bad, where random scores cannot be put in its place


@dataclass(frozen=True, slots=True)
class Axis:
    """The horizontal axis of a metric's curve."""

    name: str  # of the curve
    label: str  # of the axis
    points: tuple[float, ...]


class WithCurve(NamedTuple):
    """The answer of a metric that draws a curve."""

    values: Tensor  # [B] for one measure, [B, M] for several
    curve: Tensor  # [B, len(axis.points)] one for every example, averaged by the caller


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of a split before it is measured."""

    unit_counts: Tensor  # [N] units on the mask of every example


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The result of a metric for a whole split."""

    values: Tensor  # [M], one per measure
    curves: tuple[tuple[Axis, Tensor], ...] = ()  # each with one value per point of its axis


@dataclass(frozen=True, slots=True)
class Finding:
    """One measure in one setting of a study."""

    setting: str
    measure: str
    direction: Direction
    values: np.ndarray[Any, np.dtype[np.float64]]  # [S, N] by seed and example, or [S, 1] by seed
    published: float | None = None
    source: str = ""  # where the published value stands
