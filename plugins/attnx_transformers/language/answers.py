"""Answers of several pieces after a prompt: their log-probabilities, read from the states of the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from attnx.plugin import UsageError

from ..checkpoints import quiet
from ..network import Network

Length = Literal["sum", "mean", "first"]
TINY = 1e-7  # a log-probability this close to 0 is 0 in single precision


@dataclass(frozen=True)
class Answers:
    """Answers in pieces, and how the log-probabilities of their pieces become one number.

    log p(y | x) = Σ_j log p(y_j | x, y_<j); divided by the number of pieces with length=mean; that of the
    first piece alone with length=first.
    """

    ids: tuple[tuple[int, ...], ...]  # of each answer its pieces
    length: Length = "sum"
    against_others: bool = False  # one answer: the other class is any other answer

    @property
    def single(self) -> bool:
        """Whether all are read from the next piece of the prompt alone."""
        return self.length == "first" or all(len(answer) == 1 for answer in self.ids)

    @property
    def raw(self) -> bool:
        """Whether logits of the next piece are compared as they are, without those of other pieces."""
        return self.single and not self.against_others

    @property
    def read(self) -> tuple[tuple[int, ...], ...]:
        """Of each answer the pieces that are read."""
        return tuple(answer[:1] for answer in self.ids) if self.length == "first" else self.ids

    def logits(self, network: Network, output: Any, used: Tensor) -> Tensor:
        """[B, C] from the output for prompts, of which these positions [B, T] are used."""
        if self.raw:
            return self.combined([output.logits[:, -1, [answer[0]]] for answer in self.read])
        return self.combined(self.pieces(network, output, used))

    def combined(self, pieces: Sequence[Tensor]) -> Tensor:
        """[B, C] from the values of the pieces of each answer [B, k]."""
        found = [values.mean(1) if self.length == "mean" else values.sum(1) for values in pieces]
        if self.against_others:
            (p,) = found
            p = p.clamp_max(-TINY)  # [B]
            return torch.stack([p, torch.log(-torch.expm1(p))], 1)
        return torch.stack(found, 1)

    def pieces(self, network: Network, output: Any, used: Tensor) -> list[Tensor]:
        """For each answer the log-probability of each of its pieces [B, k]."""
        first = output.logits[:, -1].log_softmax(-1)  # [B, V]
        found = []
        for answer in self.read:
            parts = [first[:, answer[:1]]]
            if len(answer) > 1:
                following = _continued(network, output, used, answer[:-1]).log_softmax(-1)  # [B, k − 1, V]
                index = torch.tensor(answer[1:], device=used.device).expand(len(used), -1)
                parts.append(following.gather(2, index[..., None])[..., 0])
            found.append(torch.cat(parts, 1))
        return found


def _continued(network: Network, output: Any, used: Tensor, pieces: Sequence[int]) -> Tensor:
    """[B, k, V] logits at these pieces after a prompt whose states are read again."""
    kept = getattr(output, "past_key_values", None)
    if kept is None:
        raise UsageError(
            f"{type(network.transformer).__name__} does not keep its states, so answers of several pieces "
            "cannot be read; use length=first."
        )
    cache = copy(kept)  # what is added to a layer of a cache makes new tensors: a shallow copy is enough
    cache.layers = [copy(layer) for layer in kept.layers]
    ids = torch.tensor(pieces, device=used.device).expand(len(used), -1)  # [B, k]
    more: dict[str, Any] = {"past_key_values": cache, "use_cache": True}
    if network.takes_mask:
        more["attention_mask"] = torch.cat([used, torch.ones_like(ids, dtype=torch.bool)], 1).long()
    if network.takes_positions:
        more["position_ids"] = used.sum(1, keepdim=True) + torch.arange(len(pieces), device=used.device)
    with quiet():
        logits: Tensor = network._call(network.table(ids), **more).logits
    return logits
