"""Two ways to remove units: delete them, or put units of other examples in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness, equal_lengths, logits_of_batches, logits_of_kept
from attnx.plugin import Batch, Example, Model, RemovalName

Draws = Sequence[int]


class Removal(Protocol):
    """A way to remove units from the examples of one batch."""

    name: ClassVar[RemovalName]

    def probabilities(self, rows: Tensor, gone: Tensor, draws: Draws) -> Tensor:
        """Return [R, D] the probability of the explained class without the columns `gone` [R, L].

        `rows` [R] says which example each row is about; `draws` which of the random draws are used.
        """
        ...


@dataclass(frozen=True, slots=True)
class Deleting:
    """Units are deleted: the example gets shorter. Nothing is random, so every draw is the same."""

    model: Model
    batch: Batch
    target: Tensor  # [B]
    name: ClassVar[RemovalName] = "delete"

    def probabilities(self, rows: Tensor, gone: Tensor, draws: Draws) -> Tensor:
        """See `Removal`; NaN where no unit is left."""
        batch = self.batch
        used = torch.arange(batch.mask.shape[1], device=rows.device) < batch.lengths[rows, None]  # [R, L]
        left = (batch.mask[rows] & ~gone).any(1)  # [R]
        found = torch.full((len(rows),), torch.nan, dtype=torch.float64, device=rows.device)
        if left.any():
            logits = logits_of_kept(self.model, batch, rows[left], used[left] & ~gone[left])
            found[left] = _of_target(logits, self.target[rows[left]])
        return found[:, None].expand(-1, len(draws))


@dataclass(frozen=True, slots=True)
class Replacing:
    """Units are replaced by units of other examples, drawn at random; the length stays the same.

    What a draw puts into a place belongs to the example, so all orders are compared with the same units.
    """

    model: Model
    batch: Batch  # encoded together with the donors, so that columns of both fit each other
    target: Tensor  # [B]
    drawn: Tensor  # [B, D, L, ...] what replaces the inputs of each column
    known: dict[bytes, float] = field(default_factory=dict)
    name: ClassVar[RemovalName] = "replace"

    @classmethod
    def of(
        cls,
        model: Model,
        batch: Batch,
        target: Tensor,
        donors: Sequence[Example],
        random: Randomness,
        draws: int,
    ) -> Replacing:
        """Draw what replaces each unit: one of the example's spares, or else a unit of the donors."""
        joint = model.encode([*batch.examples, *donors]).to(batch.inputs.device)
        own = joint.take(torch.arange(len(batch), device=batch.inputs.device))
        others = joint.take(torch.arange(len(batch), len(joint), device=batch.inputs.device))
        uniform = random.to("replacement").uniform(own, draws)  # [B, D, L]
        pool = others.inputs[others.mask]  # [P, ...]
        drawn = pool[(uniform * len(pool)).long()]
        spares = [example.spares for example in batch.examples]
        if all(spares) and own.inputs.ndim == 2:
            sizes = torch.tensor([len(rows or ()) for rows in spares], device=uniform.device)  # [B]
            padded = [(*(rows or ()), *[0] * (int(sizes.max()) - len(rows or ()))) for rows in spares]
            place = (uniform * sizes[:, None, None]).long()  # [B, D, L]
            own_pool = torch.tensor(padded, dtype=own.inputs.dtype, device=uniform.device)  # [B, P]
            drawn = own_pool.gather(1, place.flatten(1)).view_as(place)
        return cls(model, own, target, drawn)

    def probabilities(self, rows: Tensor, gone: Tensor, draws: Draws) -> Tensor:
        """See `Removal`; outputs that were computed before are not computed again."""
        gone_bits = np.packbits(gone.cpu().numpy(), axis=1)
        at = rows.cpu().numpy().astype(np.int32)[:, None].view(np.uint8)  # [R, 4]
        numbers = np.array(draws, dtype=np.int32)[:, None].view(np.uint8)  # [D, 4]
        size = (len(rows), len(draws))
        parts = [
            np.broadcast_to(part, (*size, part.shape[-1]))
            for part in (at[:, None], numbers[None], gone_bits[:, None])
        ]
        named = np.concatenate(parts, axis=-1).reshape(len(rows) * len(draws), -1)
        names = named.view(f"V{named.shape[1]}")[:, 0].tolist()  # bytes
        place = {name: number for number, name in enumerate(names) if name not in self.known}
        if place:
            new = torch.tensor(list(place.values()), device=rows.device)
            draw = torch.tensor(draws, device=rows.device)[new % len(draws)]
            new = new // len(draws)
            self.known.update(zip(place, self._run(rows[new], gone[new], draw).tolist(), strict=True))
        found = [self.known[name] for name in names]
        return torch.tensor(found, dtype=torch.float64, device=rows.device).view(size)

    def _run(self, rows: Tensor, gone: Tensor, draw: Tensor) -> Tensor:
        """[R] the probability of the explained class with a draw [R] in the place of the columns `gone`."""
        buckets = list(equal_lengths(self.batch.lengths[rows]))
        changed = (self._changed(rows[bucket], gone[bucket], draw[bucket]) for bucket in buckets)
        logits = zip(buckets, logits_of_batches(self.model, changed), strict=True)
        found = [_of_target(some, self.target[rows[bucket]]) for bucket, some in logits]
        return torch.cat(found)[torch.cat(buckets).argsort()]

    def _changed(self, rows: Tensor, gone: Tensor, draw: Tensor) -> Batch:
        """Examples [R] with a draw [R] in the place of the columns `gone` [R, L]."""
        repeated = self.batch.take(rows)
        columns = repeated.mask.shape[1]
        inputs = repeated.inputs
        replaced = gone[:, :columns].view(len(rows), columns, *[1] * (inputs.ndim - 2))
        return replace(repeated, inputs=torch.where(replaced, self.drawn[rows, draw, :columns], inputs))


def _of_target(logits: Tensor, target: Tensor) -> Tensor:
    """[R] the probability of each row's class, in double precision."""
    return logits.double().softmax(-1).gather(1, target[:, None])[:, 0]
