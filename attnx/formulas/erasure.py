"""What stands in for a unit that is taken away: nothing, a mean, or the attention of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from torch import Tensor

from ..types import Batch, Trace
from .chunks import equal_lengths

if TYPE_CHECKING:
    from ..protocols import Model, PrefixModel


def attention_without(attention: Tensor, mask: Tensor, removed: Tensor) -> Tensor:
    """Take units away from attention and share their weight among the others.

    If the units that are left have no weight, as under sparse attention, they get equal weights.

    Args:
        attention: attention [B, L].
        mask: the units [B, L].
        removed: for K alternatives, the units to take away [B, K, L].

    Returns:
        Attention [B, K, L] that sums to 1 over the units that are left; NaN if none is left.
    """
    kept = mask[:, None] & ~removed  # [B, K, L]
    left = attention.double()[:, None] * kept
    left = torch.where(left.sum(-1, keepdim=True) == 0, kept.double(), left)
    return (left / left.sum(-1, keepdim=True)).to(attention.dtype)


def mean_embedding(trace: Trace) -> Tensor:
    """Compute the mean embedding of the units of every example.

    Args:
        trace: a forward pass.

    Returns:
        The means [B, E], without gradients; they do not depend on the other examples of the batch.
    """
    units = trace.batch.mask.to(trace.embeddings)[..., None]  # [B, L, 1]
    return (trace.embeddings.detach() * units).sum(1) / units.sum(1).clamp_min(1)


def logits_of_kept(model: Model, batch: Batch, rows: Tensor, kept: Tensor) -> Tensor:
    """Run a model on examples with only some of their columns.

    Args:
        model: the model.
        batch: the batch that the examples are in.
        rows: which examples [R]; one may occur several times.
        kept: for each of them the columns that stay [R, L], at least one.

    Returns:
        The logits [R, C].
    """
    known = _known.get()
    if known is None or known.model is not model or known.batch is not batch or torch.is_grad_enabled():
        return _logits_of_kept(model, batch, rows, kept)
    return known.logits(rows, kept)


def _logits_of_kept(model: Model, batch: Batch, rows: Tensor, kept: Tensor) -> Tensor:
    lengths = kept.sum(1)  # [R]
    buckets = list(equal_lengths(lengths))
    shorter = (
        batch.keep(rows[bucket], kept[bucket].nonzero()[:, 1].view(len(bucket), -1)) for bucket in buckets
    )
    return torch.cat(list(logits_of_batches(model, shorter)))[torch.cat(buckets).argsort()]


def logits_of_batches(model: Model, batches: Iterable[Batch]) -> Iterable[Tensor]:
    """Run a model on batches of which only the output is wanted.

    Args:
        model: the model.
        batches: the batches.

    Returns:
        The logits [B, C] of each.
    """
    if "fast-logits" in model.provides and not torch.is_grad_enabled():
        return cast("PrefixModel", model).logits_of(list(batches))
    return (model.run(batch, model.embed(batch)).logits for batch in batches)


@dataclass
class Known:
    """Outputs of shortened examples of one batch, so that each is computed once for all metrics."""

    model: Model
    batch: Batch
    recalls: bool = False  # not while methods are timed: each is to cost what it costs alone
    places: dict[tuple[int, bytes], int] = field(default_factory=dict)  # in `outputs`, by row and columns
    outputs: Tensor | None = None  # [known, C]

    def logits(self, rows: Tensor, kept: Tensor) -> Tensor:
        """[R, C] as `logits_of_kept` gives them."""
        bits = np.packbits(kept.cpu().numpy(), axis=1)
        names = [(row, columns.tobytes()) for row, columns in zip(rows.tolist(), bits, strict=True)]
        place = {name: at for at, name in enumerate(names)}  # each once
        new = [name for name in place if not (self.recalls and name in self.places)]
        if new:
            some = torch.tensor([place[name] for name in new], device=rows.device)
            found = _logits_of_kept(self.model, self.batch, rows[some], kept[some])
            self.learn(new, found)
        assert self.outputs is not None, "at least one row was asked for"
        return self.outputs[[self.places[name] for name in names]]

    def learn(self, names: Sequence[tuple[int, bytes]], outputs: Tensor) -> None:
        """Take outputs [R, C] of parts of examples, each named by its row and the columns that were kept."""
        start = 0 if self.outputs is None else len(self.outputs)
        self.places |= {name: start + number for number, name in enumerate(names)}
        self.outputs = outputs if self.outputs is None else torch.cat([self.outputs, outputs])

    def learnt_after(self, count: int) -> tuple[list[tuple[int, bytes]], Tensor | None]:
        """What came to be known after the first `count` names: names, and their outputs [R, C]."""
        new = list(islice(self.places.items(), count, None))  # a name keeps its place if it is learnt again
        if self.outputs is None or not new:
            return [], None
        return [name for name, _ in new], self.outputs[[place for _, place in new]]


_known: ContextVar[Known | None] = ContextVar("known", default=None)


@contextmanager
def remembering(model: Model, batch: Batch) -> Iterator[Known]:
    """Keep the outputs for parts of this batch's examples as long as it is measured."""
    known = Known(model, batch)
    token = _known.set(known)
    try:
        yield known
    finally:
        _known.reset(token)


def remembered() -> Known | None:
    """The outputs that are kept while a batch is measured; None where nothing is."""
    return _known.get()
