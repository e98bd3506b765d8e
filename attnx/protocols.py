"""What a task, a model, a projection, an importance method, a metric and a study are.

Any object of the right shape will do. Subclassing a protocol gives the defaults of its
declarations. A component never batches, seeds, prints, moves devices or switches modes: it is
called with everything on one device, the model in evaluation mode and gradients off, unless it
declares that it needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

import torch
from torch import Tensor, nn

from .data.loading import Source
from .data.word_spans import find_in_order
from .formulas.layers import Layers
from .types import (
    Axis,
    Batch,
    Conclusion,
    Corpus,
    DrawingData,
    Evidence,
    Example,
    Family,
    Finding,
    Measure,
    Passes,
    Sees,
    TaskData,
    Trace,
    WithCurve,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .formulas.randomness import Randomness
    from .run.lab import Lab


class Task(Protocol):
    """Labelled examples made of units."""

    needs: ClassVar[tuple[str, ...]] = ()  # of the model: "reads-query" where the answer depends on it
    provides: ClassVar[tuple[str, ...]] = ()
    dataset: ClassVar[str] = ""  # the entry of the registry that it reads

    def load(self, source: Source) -> TaskData:
        """All examples; files come from `source` alone."""
        ...

    def sample(self) -> TaskData:
        """A few dozen examples of the same kind, made without any file."""
        ...

    def units_of(self, text: str) -> tuple[str, ...]:
        """The units of a text that somebody gives, for a task whose units are words."""
        return tuple(text.split())

    def spans_of(self, text: str) -> tuple[tuple[int, int], ...]:
        """Where these units are in the text, as [start, end) of its characters."""
        return find_in_order(self.units_of(text), text)


class AttentionProjection(Protocol):
    """From scores to a point on the simplex over the mask, 0 off it.

    One that behaves differently in training, or learns, is an `nn.Module`.
    """

    trains_by_expectation: ClassVar[bool] = False  # loss: the expected loss over single units

    def __call__(self, scores: Tensor, mask: Tensor, /) -> Tensor:
        """[B, L], [B, L] -> [B, L]."""
        ...


class Model(Protocol):
    """A classifier of units: an `nn.Module` with these methods.

    Only what it `provides` is asked of it: `reattend`, and `run` with an `attention`, of one that
    provides "reattend", `decode` of one that provides "decode". What its trace does not show is
    left to `Trace.of`.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    provides: ClassVar[tuple[str, ...]] = (
        "attention",
        "reattend",
        "projection",
        "gradient",
        "hidden",
        "decode",
    )

    training: bool
    projection: AttentionProjection  # of a model that provides "projection"

    @classmethod
    def build(cls, data: TaskData, projection: AttentionProjection, options: Any) -> Self:
        """An untrained model for this data; all randomness is torch's, seeded by the caller."""
        ...

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Examples as tensors, on the CPU."""
        ...

    def embed(self, batch: Batch) -> Tensor:
        """[B, L, E] what the model sees of each unit: where gradients are taken."""
        ...

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        """A forward pass from embeddings, with attention computed or held at `attention` [B, L]."""
        ...

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scores [B, L], attention [B, L] and logits [B, C] from hidden states [B, L, H]."""
        ...

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        """Logits [B, C] under attention [B, L], or [B, K, C] under [B, K, L]; nothing re-encoded."""
        ...

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        """The parameters of the scorer, which are not decayed in training."""
        ...

    def parameters(self, recurse: bool = True) -> Iterator[nn.Parameter]: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Any: ...
    def train(self, mode: bool = True) -> Self: ...
    def eval(self) -> Self: ...
    def to(self, device: torch.device) -> Self: ...
    def requires_grad_(self, requires_grad: bool = True) -> Self: ...


class DeletingModel(Model, Protocol):
    """A model with an exact path for deletions that is faster than encoding each anew.

    It provides "fast-deletion".
    """

    def without_each(self, trace: Trace) -> Tensor:
        """Logits [B, L, C] with the unit of each column deleted in turn; anything off the mask."""
        ...


class InfluencingModel(Model, Protocol):
    """A model with an exact path for influence that is faster than one backward pass per hidden state.

    It provides "fast-influence".
    """

    def influence(self, trace: Trace) -> Tensor:
        """[B, P, L] ‖∂‖h_p‖₂ / ∂X_i‖₂ for every hidden state p and unit i; anything off the mask."""
        ...


class NoticedModel(Model, Protocol):
    """A model that provides "notices"."""

    notices: tuple[str, ...]  # what a reader of the report must know about this model


class LayeredModel(Model, Protocol):
    """A model with several layers and heads of attention.

    It provides "layers".
    """

    def layers(self, batch: Batch, embeddings: Tensor) -> Layers:
        """A forward pass from embeddings, differentiable, with the attention of all layers."""
        ...


class ImportanceMethod(Protocol):
    """A score for every unit."""

    needs: ClassVar[tuple[str, ...]] = ()
    passes: Passes = 0  # that one explanation takes, about: long examples of dear ones are sampled

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness, /) -> Tensor:
        """Values [B, L], 0 off the mask, explaining the probability of class `target` [B]."""
        ...

    def check(self, examples: Sequence[Example]) -> None:
        """Refuse, before any training, examples that it will not be able to explain."""


class _Measuring(Protocol):
    """What metrics of examples and of splits declare alike."""

    needs: ClassVar[tuple[str, ...]] = ()
    family: ClassVar[Family]
    sees: ClassVar[Sees] = "units"  # what it can tell from something else
    measures: tuple[Measure, ...]
    passes: Passes = 0  # that it takes beside those of explanation and reference, about
    reads_explanation: ClassVar[bool] = True  # False: it tests the model itself, once for all explanations


class Metric(_Measuring, Protocol):
    """One value, or one per measure, for every example; NaN where it is undefined."""

    whole_split: ClassVar[Literal[False]] = False
    follows_training: ClassVar[bool] = False  # also measured on dev after every epoch
    axis: Axis | None = None  # of the curve, for a metric that draws one

    def __call__(self, evidence: Evidence, /) -> Tensor | WithCurve:
        """[B] for one measure, [B, M] for several; with the curve, where there is an axis."""
        ...


class SplitMetric(_Measuring, Protocol):
    """One value, or one per measure, for all examples of a split together."""

    whole_split: ClassVar[Literal[True]] = True

    def keep(self, evidence: Evidence, corpus: Corpus, /) -> tuple[Tensor, ...]:
        """What is needed of a batch later: tensors [B, ...] of the same shape in every batch."""
        ...

    def conclude(self, kept: tuple[Tensor, ...], corpus: Corpus, /) -> Conclusion:
        """The verdict, from what was kept of all examples [N, ...] in their order."""
        ...


class Drawing(Protocol):
    """A figure of a trained model, made of what a run keeps of it: arrays, and texts.

    It is drawn wherever what it needs is there, of the first seed, and takes no options.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str]
    caption: ClassVar[str]
    size: ClassVar[tuple[float, float]]  # inches
    examples: ClassVar[int] = 400  # of the test split that it is shown, at most

    def look(self, model: Model, trace: Trace, data: TaskData, /) -> Mapping[str, DrawingData] | None:
        """What will be drawn of a pass over test examples; None where there is nothing to draw."""
        ...

    def draw(self, figure: Figure, kept: Mapping[str, DrawingData], /) -> None:
        """Fill an empty matplotlib figure."""
        ...


class Study(Protocol):
    """A question about a task and a model that takes more than one trained model to answer."""

    needs: ClassVar[tuple[str, ...]] = ()

    def __call__(self, lab: Lab, /) -> list[Finding]:
        """The findings, in the order a reader wants them."""
        ...
