"""A model seen as one that decides between two classes: why the one and not the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import torch
from torch import Tensor

from ...formulas.layer_states import LayerStates
from ...formulas.layers import Layers
from ...protocols import Model
from ...types import Batch, ExplainedOutput, GradientPoints, Trace


@dataclass(frozen=True, slots=True)
class ContrastTrace(Trace):
    """A forward pass whose logits are those of the contrast; the model's own are kept too."""

    whole: Tensor  # [B, C]

    def take(self, rows: Tensor) -> ContrastTrace:
        """Take some examples out of the trace."""
        return _beside(Trace.take(self, rows), self.whole[rows])

    @property
    def own(self) -> Trace:
        """The pass as the model gave it."""
        return Trace(**{**_shown(self), "logits": self.whole})


class Contrast:
    """A model with two classes in place of its own: `target` first, `versus` second.

    The probability of the first is q = (1 + p(target) − p(versus)) / 2, which is p(target) for a model of two
    classes. Its logit is z(target) − z(versus). So every method and metric that explains or tests the first
    class explains or tests the difference of the two, in probabilities or in logits.
    """

    def __init__(self, model: Model, target: int, versus: int) -> None:
        self._model: Any = model
        self._target, self._versus = target, versus
        # The output is no longer linear in attention, though the model's own logits may be.
        self.provides = tuple(word for word in model.provides if word != "linear-decoder")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_model" not in vars(self):  # a copy has none while it is being made
            raise AttributeError(name)
        return getattr(self._model, name)

    def logits(self, whole: Tensor) -> Tensor:
        """[..., 2] the logits of the contrast from those of the model [..., C]."""
        ours, theirs = whole[..., self._target], whole[..., self._versus]
        margin = ours - theirs
        if whole.shape[-1] == 2:
            return torch.stack([margin, torch.zeros_like(margin)], dim=-1)
        others = [c for c in range(whole.shape[-1]) if c not in (self._target, self._versus)]
        shared = whole[..., others].logsumexp(-1) - math.log(2)  # half of what the other classes have
        odds = torch.logaddexp(ours, shared) - torch.logaddexp(theirs, shared)  # log q/(1 − q)
        return torch.stack([margin, margin - odds], dim=-1)

    def seen(self, trace: Trace) -> ContrastTrace:
        """The contrast of a pass of the model."""
        return _beside(replace(trace, logits=self.logits(trace.logits)), trace.logits)

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        """As `Model.run`."""
        held = {} if attention is None else {"attention": attention}
        return self.seen(self._model.run(batch, embeddings, **held))

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """As `Model.decode`."""
        scores, attention, logits = self._model.decode(batch, hidden)
        return scores, attention, self.logits(logits)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        """As `Model.reattend`."""
        return self.logits(self._model.reattend(_own(trace), attention))

    def without_each(self, trace: Trace) -> Tensor:
        """As `DeletingModel.without_each`."""
        return self.logits(self._model.without_each(_own(trace)))

    def logits_of(self, batches: Sequence[Batch]) -> list[Tensor]:
        """As `PrefixModel.logits_of`."""
        return [self.logits(whole) for whole in self._model.logits_of(batches)]

    def influence(self, trace: Trace) -> Tensor:
        """As `InfluencingModel.influence`."""
        found: Tensor = self._model.influence(_own(trace))
        return found

    def gradients_at(
        self, trace: Trace, points: GradientPoints, output: ExplainedOutput
    ) -> tuple[Tensor, Tensor]:
        """As `DifferentiatingModel.gradients_at`."""

        def of_contrast(logits: Tensor, rows: Tensor) -> Tensor:
            return output(self.logits(logits), rows)

        found: tuple[Tensor, Tensor] = self._model.gradients_at(_own(trace), points, of_contrast)
        return found

    def replaced(self, trace: Trace, rows: Tensor, absent: Tensor, baseline: Tensor) -> Tensor:
        """As `ReplacingModel.replaced`."""
        return self.logits(self._model.replaced(_own(trace), rows, absent, baseline))

    def layers(self, batch: Batch, embeddings: Tensor) -> Layers:
        """As `LayeredModel.layers`."""
        layers: Layers = self._model.layers(batch, embeddings)
        return replace(layers, logits=self.logits(layers.logits))

    def one_layer(self, batch: Batch, embeddings: Tensor, layer: int, query: str) -> Layers:
        """As `OneLayerModel.one_layer`."""
        layers: Layers = self._model.one_layer(batch, embeddings, layer, query)
        return replace(layers, logits=self.logits(layers.logits))

    def layer_states(self, batch: Batch, embeddings: Tensor) -> LayerStates:
        """As `LayerStatesModel.layer_states`; its readout is that of the two logits themselves."""
        states: LayerStates = self._model.layer_states(batch, embeddings)
        return replace(states, logits=self.logits(states.logits), readout=None)


def _own(trace: Trace) -> Trace:
    """What the model itself gave; a trace that only the model made is that already."""
    return trace.own if isinstance(trace, ContrastTrace) else trace


def _beside(trace: Trace, whole: Tensor) -> ContrastTrace:
    return ContrastTrace(**_shown(trace), whole=whole)


def _shown(trace: Trace) -> dict[str, Any]:
    """What every trace shows, by name."""
    return {field.name: getattr(trace, field.name) for field in fields(Trace)}


def contrast_of(model: Model, target: int, versus: int) -> Model:
    """The model as one that decides between two of its classes."""
    return cast("Model", Contrast(model, target, versus))
