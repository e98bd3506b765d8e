"""Scores collected while a split is measured, in half precision, and the effect of deleting the top unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...formulas.erasure import logits_of_kept
from ...protocols import Model
from ...results.observations import StoredScores
from ...types import Batch, Importance, Trace

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class ScoreKeeper:
    """Collects the scores of some importance methods, batch by batch."""

    methods: Sequence[str]  # may include the model's attention even if that is not an explanation
    deletes: bool  # units can be deleted, so the probability without the top unit is known
    lengths: list[Array] = field(default_factory=list)
    shares: dict[str, list[Array]] = field(default_factory=dict)
    largest: dict[str, list[Array]] = field(default_factory=dict)
    without_top: dict[str, list[Array]] = field(default_factory=dict)

    def empty_copy(self) -> ScoreKeeper:
        """A keeper of the same methods that has collected nothing yet."""
        return ScoreKeeper(self.methods, self.deletes)

    def of(self, methods: Set[str]) -> ScoreKeeper:
        """An empty keeper of those of its methods that are among these."""
        return ScoreKeeper([name for name in self.methods if name in methods], self.deletes)

    def add(self, model: Model, trace: Trace, importances: Mapping[str, Importance]) -> None:
        """Collect the scores of a batch."""
        batch = trace.batch
        lengths = [len(example.units) for example in batch.examples]
        self.lengths.append(np.array(lengths))
        tops = []
        for name in self.methods:
            values = importances[name].values if name in importances else trace.attention
            units = by_unit(values, batch)  # [B, n]
            largest, shares = _in_halves(units)
            present = np.arange(shares.shape[1]) < np.array(lengths)[:, None]  # [B, n]
            self.shares.setdefault(name, []).append(shares[present])
            self.largest.setdefault(name, []).append(largest)
            tops.append(units.nan_to_num(-torch.inf).masked_fill(~_read(batch, units), -torch.inf).argmax(1))
        if self.deletes and tops:
            without = probabilities_without(model, trace, torch.stack(tops, dim=1)).cpu().numpy()  # [B, M]
            for name, values in zip(self.methods, without.T, strict=True):
                self.without_top.setdefault(name, []).append(values)

    def collected(self) -> StoredScores:
        """The scores of all examples that were added, in that order."""
        return StoredScores(
            lengths=np.concatenate(self.lengths),
            shares={name: np.concatenate(of) for name, of in self.shares.items()},
            largest={name: np.concatenate(of) for name, of in self.largest.items()},
            without_top={name: np.concatenate(of) for name, of in self.without_top.items()},
        )


def by_unit(values: Tensor, batch: Batch) -> Tensor:
    """[B, L] by column -> [B, n] by unit: the sum over its columns, 0 for a unit that the model skips."""
    longest = max(len(example.units) for example in batch.examples)
    # On the CPU, because not every device has 64-bit numbers. Columns without a unit go to the last one.
    units = torch.zeros(len(values), longest + 1, dtype=torch.float64)
    index, mask = batch.unit_index.cpu(), batch.mask.cpu()
    column = index.masked_fill(~mask | (index < 0), longest)
    return units.scatter_add(1, column.long(), values.cpu().double())[:, :-1]


def _read(batch: Batch, units: Tensor) -> Tensor:
    """[B, n] True for the units that the model reads."""
    return by_unit(batch.mask.float(), batch)[:, : units.shape[1]] > 0


def _in_halves(units: Tensor) -> tuple[Array, Array]:
    """[B] the largest finite score of each example, and [B, n] all scores as shares of it."""
    finite = units.abs().masked_fill(~units.isfinite(), 0.0)
    largest = finite.amax(1)  # [B]
    shares = units / largest.where(largest > 0, torch.ones_like(largest))[:, None]
    return largest.cpu().numpy(), shares.half().cpu().numpy()


def probabilities_without(model: Model, trace: Trace, units: Tensor, target: Tensor | None = None) -> Tensor:
    """[B, M] the probability of the predicted class, or of `target` [B], without one unit of `units` [B, M].

    NaN if no unit is left. Columns off the mask that are in use, such as start marks, stay.
    """
    batch, target = trace.batch, (trace.predicted if target is None else target).cpu()
    device = batch.lengths.device
    used = torch.arange(batch.mask.shape[1], device=device) < batch.lengths[:, None]  # [B, L]
    rows = torch.arange(len(units))[:, None].expand_as(units)  # [B, M]
    pairs, of = torch.stack([rows.flatten(), units.flatten().cpu()]).unique(dim=1, return_inverse=True)
    row, unit = pairs.to(device)  # [P] each
    kept = used[row] & (batch.unit_index[row] != unit[:, None])  # [P, L]
    some = (kept & batch.mask[row]).any(1)  # [P]
    probabilities = torch.full((len(row),), torch.nan, dtype=torch.float64)
    if some.any():
        logits = logits_of_kept(model, batch, row[some], kept[some]).cpu().double()  # [p, C]
        left = some.cpu()
        probabilities[left] = logits.softmax(-1).gather(1, target[pairs[0][left], None])[:, 0]
    return probabilities[of].view(units.shape)
