"""Random numbers that belong to an example, not to its place in a batch.

Every uniform draw is a hash of (seed and purpose, example id, draw, unit), so padding, batch order and batch
composition cannot change it, and the draws for two purposes are independent.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..types import Batch

_TOGETHER = 64  # entries of vectors that are drawn at a time, whatever the size of the vectors


@dataclass(frozen=True, slots=True)
class Randomness:
    """A source of uniform numbers for every unit of every example.

    Attributes:
        seed: another seed gives other numbers.
        purpose: another purpose gives other numbers too.
    """

    seed: int
    purpose: tuple[str, ...] = ()

    def to(self, purpose: str) -> Randomness:
        """Give a source of other numbers, for a purpose within this one.

        Args:
            purpose: a word for what the numbers are used for.

        Returns:
            The other source.
        """
        return Randomness(self.seed, (*self.purpose, purpose))

    def uniform(self, batch: Batch, draws: int = 1) -> Tensor:
        """Draw uniform numbers for every unit of a batch.

        Args:
            batch: the batch.
            draws: how many numbers for each unit.

        Returns:
            Numbers in [0, 1) [B, draws, L]; they depend on the example, not on its place in the batch.
        """
        keys = np.array([self._key(example.id) for example in batch.examples], dtype=np.uint64)
        units = batch.unit_index.cpu().numpy().astype(np.int64).astype(np.uint64)  # [B, L]
        draw = _mix(np.arange(draws, dtype=np.uint64) + np.uint64(1))  # [K]
        state = _mix(keys[:, None, None] ^ draw[None, :, None])  # [B, K, 1]
        bits = _mix(state ^ _mix(units)[:, None, :])  # [B, K, L]
        values = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return torch.from_numpy(values).to(batch.inputs.device)

    def normal(self, batch: Batch, draws: int, size: int) -> Tensor:
        """Draw vectors of standard normal numbers for every unit of a batch.

        Args:
            batch: the batch.
            draws: how many vectors for each unit.
            size: how many numbers a vector has.

        Returns:
            Single-precision numbers [draws, B, L, size], 0 off the mask; they depend on the example, its
            number of units and `draws`, not on the rest of the batch, and longer vectors begin alike.
        """
        values = torch.zeros(draws, *batch.mask.shape, size)
        for row, (example, units) in enumerate(zip(batch.examples, batch.mask.cpu(), strict=True)):
            generator = torch.Generator().manual_seed(self._key(example.id) >> 1)  # a seed is below 2**63
            places = units.nonzero()[:, 0]
            starts = range(0, size, _TOGETHER)
            drawn = torch.cat(
                [torch.randn(_TOGETHER, draws, len(places), generator=generator) for _ in starts]
            )
            by_unit = drawn[:size].flatten(1).T.contiguous()  # [draws·units, size]
            values[:, row].index_copy_(1, places, by_unit.view(draws, len(places), size))
        return values.to(batch.inputs.device)

    def _key(self, example_id: str) -> int:
        parts = (str(self.seed), *self.purpose, example_id)
        joined = "".join(f"{len(part)}:{part}" for part in parts)
        return int.from_bytes(hashlib.blake2b(joined.encode(), digest_size=8).digest(), "little")


def _mix(x: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The splitmix64 finaliser: a bijection whose outputs look independent."""
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
