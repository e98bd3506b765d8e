from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from attnx.formulas import similar_lengths
from attnx.plugin import AttentionProjection, Batch, Example, Model, TaskData, Trace, UsageError


class Guided(nn.Module):
    """A model that averages its hidden states with the attention of another model, its guide.

    The guide reads the same batch and is not trained: it is not part of the parameters or of the state.
    Its attention depends on the batch, not on embeddings that a caller may have changed.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    provides: ClassVar[tuple[str, ...]] = Model.provides

    def __init__(self, model: Model, guide: Model, data: TaskData) -> None:
        super().__init__()
        for split in (data.train, data.dev, data.test):
            _require_same_encoding(model, guide, split)
        self.model = model
        self.guide = (guide.eval().requires_grad_(False),)  # in a tuple: not a submodule
        self.projection: AttentionProjection = guide.projection

    @classmethod
    def build(cls, data: TaskData, projection: AttentionProjection, options: Any) -> Self:
        raise UsageError("A guided model is made of two models, not built from options.")

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.guide[0]._apply(fn, recurse)  # type: ignore[attr-defined]  # the guide moves to the model's device
        return self

    def encode(self, examples: Sequence[Example]) -> Batch:
        return self.model.encode(examples)

    def embed(self, batch: Batch) -> Tensor:
        return self.model.embed(batch)  # [B, L, E]

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        scores, guided = self._guidance(batch)  # [B, L] each
        held = guided if attention is None else attention
        return replace(self.model.run(batch, embeddings, attention=held), scores=scores)

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        scores, guided = self._guidance(batch)  # [B, L] each
        own_scores, own, logits = self.model.decode(batch, hidden)
        trace = Trace(batch, self.model.embed(batch), hidden, own_scores, own, logits)
        return scores, guided, self.model.reattend(trace, guided)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        return self.model.reattend(trace, attention)

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        return ()

    def _guidance(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Scores and attention of the guide, [B, L] each."""
        (guide,) = self.guide
        with torch.no_grad():
            trace = guide.run(batch, guide.embed(batch))
        return trace.scores, trace.attention


def _require_same_encoding(model: Model, guide: Model, examples: Sequence[Example]) -> None:
    units = torch.tensor([len(example.units) for example in examples])
    for rows in similar_lengths(units):  # in groups, because all at once they would be as wide as the longest
        some = [examples[row] for row in rows.tolist()]
        _require_same_batch(model.encode(some), guide.encode(some))


def _require_same_batch(mine: Batch, theirs: Batch) -> None:
    for name in (field.name for field in fields(Batch) if field.name != "examples"):
        a, b = getattr(mine, name), getattr(theirs, name)
        same = a is b if a is None or b is None else a.shape == b.shape and torch.equal(*_comparable(a, b))
        if not same:
            raise UsageError(
                f"A model and its guide must encode examples alike, but these differ in {name}: give both "
                "the same kind of units and the same vocabulary (min_count, max_words, boundaries)."
            )


def _comparable(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Replace NaN, which does not equal itself."""
    return (a.nan_to_num(-1), b.nan_to_num(-1)) if a.is_floating_point() else (a, b)
