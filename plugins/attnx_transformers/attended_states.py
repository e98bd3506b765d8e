"""Attention from one position to the states themselves, without the keys and values of all positions.

With a query q of one position, q·(W_K x_t + b_K) is (q W_K)·x_t and a number that all t share, and
Σ_t a_t (W_V x_t + b_V) is W_V (Σ_t a_t x_t) + b_V: the weights are multiplied with two vectors for each head
and text instead of with the states of all positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from .replaced_forward import forward_as


@dataclass
class AttendedStates:
    """The linear maps of keys and of values, and the states that each was to map."""

    keys: nn.Linear
    values: nn.Linear
    read: dict[nn.Linear, Tensor] = field(default_factory=dict)  # [B, T, H] in a pass

    @contextmanager
    def unmapped(self) -> Iterator[None]:
        """Let both maps note what they are given; what they give has the right shape and means nothing."""
        with ExitStack() as replaced:
            for map_ in (self.keys, self.values):
                replaced.enter_context(forward_as(map_, self._noting(map_)))
            replaced.callback(self.read.clear)
            yield

    def attend(self, query: Tensor, groups: int, mask: Tensor | None, **more: Any) -> tuple[Tensor, Tensor]:
        """What the first position finds [B, 1, M, D], and its weights [B, M, 1, T].

        Of queries [B, M, T, D], with so many heads of keys and values, and a mask [B, 1, T, T] or none.
        """
        if more.get("softcap") is not None or more.get("position_bias") is not None:
            raise NotImplementedError("attention that changes its scores")
        heads, size = query.shape[1], query.shape[3]
        of_keys, of_values = (self._by_head(map_.weight, heads, groups, size) for map_ in self._maps)
        scale = more.get("scaling") or size**-0.5
        asking = torch.bmm(query[:, :, 0].transpose(0, 1) * scale, of_keys)  # [M, B, H]
        scores = torch.bmm(asking.transpose(0, 1), self.read[self.keys].mT)  # [B, M, T]
        weights = (scores if mask is None else scores + mask[:, :, 0]).softmax(-1)
        mixed = torch.bmm(weights, self.read[self.values])  # [B, M, H]
        found = torch.bmm(mixed.transpose(0, 1), of_values.mT)  # [M, B, D]
        if self.values.bias is not None:
            found = found + self._by_head(self.values.bias[:, None], heads, groups, size).mT
        return found.transpose(0, 1)[:, None], weights[:, :, None]

    @property
    def _maps(self) -> tuple[nn.Linear, nn.Linear]:
        return self.keys, self.values

    @staticmethod
    def _by_head(weight: Tensor, heads: int, groups: int, size: int) -> Tensor:
        """[M, D, H] the part of a weight for each head; several heads may share one."""
        parts = weight.view(groups, size, -1)
        return parts if heads == groups else parts.repeat_interleave(heads // groups, 0)

    def _noting(self, map_: nn.Linear) -> Callable[[Tensor], Tensor]:
        def note(states: Tensor) -> Tensor:
            self.read[map_] = states
            return states.new_zeros(()).expand(*states.shape[:-1], map_.out_features)

        return note
