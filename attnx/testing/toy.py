"""A task and a model small enough to know everything about.

Units are words; word w_i has the vector e_i in the plane. The model scores a unit by its first
coordinate and classifies by the second, all linear, so every quantity has a closed form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from ..formulas.layer_states import LayerState, LayerStates
from ..formulas.layers import Layers
from ..protocols import AttentionProjection, Model
from ..types import Batch, Example, TaskData, Trace

VECTORS = np.array([[0.0, 0.0], [1.0, 0.5], [-1.0, 1.0], [0.5, -1.0], [2.0, 0.25], [-0.5, -0.75]])
WORDS = ("<unknown>", "one", "two", "three", "four", "five")


def toy_data() -> TaskData:
    """Make a task of a few examples of different lengths, the last one without a rationale.

    The others have a partner: the same text with another word in the place of the marked one.

    Returns:
        The same six examples in all three splits.
    """
    sentences = [
        ("one", "two", "three"),
        ("four", "one"),
        ("two", "five", "one", "three", "four"),
        ("three", "three", "two", "one"),
        ("five", "four", "two"),
        ("one", "two", "five", "four", "three", "one"),
    ]
    examples = tuple(_toy_example(i, units) for i, units in enumerate(sentences))
    return TaskData(train=examples, dev=examples, test=examples, label_names=("no", "yes"))


def _toy_example(number: int, units: tuple[str, ...]) -> Example:
    example = Example(f"toy-{number}", units, label=number % 2)
    if number == 5:
        return example
    marks = tuple(place == number % len(units) for place in range(len(units)))
    other = tuple(
        ("five" if unit == "four" else "four") if marked else unit
        for unit, marked in zip(units, marks, strict=True)
    )
    partner = Example(f"toy-{number}-partner", other, label=1 - number % 2, rationale=marks)
    return replace(example, rationale=marks, partner=partner)


class ToySoftmax(AttentionProjection):
    """Softmax over the mask."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Turn scores into attention."""
        return scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0)


class ToyModel(nn.Module):
    """A linear attention model with known weights: z_i = x_i1, logits = (−c_2, c_2), c = Σ a_i x_i."""

    needs: ClassVar[tuple[str, ...]] = ()
    provides: ClassVar[tuple[str, ...]] = (
        *Model.provides,
        "deletion",
        "linear-decoder",
        "layers",
        "layer-states",
    )

    def __init__(self, projection: AttentionProjection | None = None) -> None:
        super().__init__()
        self.projection = projection or ToySoftmax()
        self.vectors = nn.Parameter(torch.tensor(VECTORS, dtype=torch.float32))
        self.scorer = nn.Parameter(torch.tensor([1.0, 0.0]))
        self.head = nn.Parameter(torch.tensor([[0.0, -1.0], [0.0, 1.0]]))

    @classmethod
    def build(cls, data: TaskData, projection: AttentionProjection, options: Any) -> Self:  # noqa: ARG003
        """Make a model with the known weights."""
        return cls(projection)

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Turn examples into ids of words."""
        return Batch.padded(examples, [[WORDS.index(word) for word in example.units] for example in examples])

    def embed(self, batch: Batch) -> Tensor:
        """Give the vector of every unit [B, L, E]."""
        return self.vectors[batch.inputs]  # [B, L, 2]

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        """Do a forward pass."""
        scores, a, logits = self.decode(batch, embeddings)
        if attention is not None:
            a, logits = attention, self._classify(embeddings, attention)
        return Trace(batch, embeddings, embeddings, scores, a, logits)

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute scores, attention and logits from hidden states."""
        scores = hidden @ self.scorer  # [B, L]
        a = self.projection(scores, batch.mask)  # [B, L]
        return scores, a, self._classify(hidden, a)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        """Compute logits for another attention."""
        return self._classify(trace.hidden, attention)

    def layers(self, batch: Batch, embeddings: Tensor) -> Layers:
        """One layer of one head: every unit attends as the model does, and hands on its own vector."""
        _, a, _ = self.decode(batch, embeddings)
        used = batch.mask.to(a)  # [B, L]
        query = used / used.sum(1, keepdim=True)
        weights = a[:, None, None].repeat(1, 1, a.shape[1], 1)  # [B, 1, L, L]
        read = torch.einsum("bq,bmqi->bi", query, weights)  # [B, L]
        sizes = embeddings.norm(dim=-1)[:, None]  # [B, 1, L]
        places = torch.arange(a.shape[1], device=a.device).expand_as(batch.mask)
        column = places.masked_fill(places >= batch.lengths[:, None], -1)  # [B, L]
        return Layers(column, query, (weights,), (sizes,), self._classify(embeddings, read))

    def layer_states(self, batch: Batch, embeddings: Tensor) -> LayerStates:
        """The layer of `layers` with a residual: y_i = x_i + Σ_j a_j x_j, and nothing after it."""
        layers = self.layers(batch, embeddings)
        weights, handed = layers.weights[0], embeddings[:, None]  # [B, 1, L, L], [B, 1, L, E]

        def given(weights: Tensor, rows: Tensor) -> Tensor:
            return embeddings[rows] + (weights @ handed[rows])[:, 0]  # [R, L, E]

        def without_value(rows: Tensor, positions: Tensor) -> Tensor:
            kept = torch.arange(weights.shape[-1], device=rows.device) != positions[:, None]  # [R, L]
            return given(weights[rows] * kept[:, None, None], rows)

        states = given(weights, torch.arange(len(embeddings), device=embeddings.device))
        layer = LayerState(embeddings, weights, handed, states, None, False, states, without_value)
        readout = torch.einsum("bq,ch->bcqh", layers.query, self.head)
        return LayerStates(layers.column, layers.query, (layer,), layers.logits, readout)

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        """Give the parameters that make attention."""
        return [self.scorer]

    def _classify(self, hidden: Tensor, attention: Tensor) -> Tensor:
        context = torch.einsum("b...l,blh->b...h", attention, hidden)  # [B, H] or [B, K, H]
        return context @ self.head.T


class MarkedToyModel(ToyModel):
    """The toy model with a special column before and after the units of every example.

    No special column is ever attended to, so everything that is said of a unit is as in `ToyModel`.
    Their vector has the highest score of all, so a component that reads them gives other values.
    """

    mark: Tensor

    def __init__(self, projection: AttentionProjection | None = None) -> None:
        super().__init__(projection)
        self.register_buffer("mark", torch.tensor([[3.0, -2.0]]))

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Turn examples into ids of words, with a mark at both ends."""
        plain = super().encode(examples)
        ends = torch.full((len(examples), 1), len(WORDS))  # [B, 1]
        inputs = torch.cat([ends, plain.inputs, torch.zeros_like(ends)], 1)  # [B, L + 2]
        inputs.scatter_(1, plain.lengths[:, None] + 1, ends)
        edge, none = torch.zeros_like(ends, dtype=torch.bool), torch.full_like(ends, -1)
        return Batch.collate(
            examples,
            inputs=inputs,
            mask=torch.cat([edge, plain.mask, edge], 1),
            unit_index=torch.cat([none, plain.unit_index, none], 1),
            lengths=plain.lengths + 2,
        )

    def embed(self, batch: Batch) -> Tensor:
        """Give the vector of every unit and mark [B, L, E]."""
        return torch.cat([self.vectors, self.mark])[batch.inputs]  # [B, L, 2]
