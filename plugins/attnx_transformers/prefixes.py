"""A decoder without each word in turn: the states before the word are what they were, and are read again.

A position of a decoder sees only what is before it. So a text without a word has the keys and values of
the whole text up to the word, and only what follows is computed, each piece a little further to the left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnx.plugin import Batch

from .checkpoints import quiet
from .network import PROBED, Network
from .packing import IN_CACHE, Packing
from .stack import alike

SPARE = 4  # a position that is only read takes so much less than one that is computed
FOR_A_PASS = 48  # positions that take as long as reading the weights for another pass

Read = Callable[[Any, Tensor], Tensor]  # logits [B, C] of what the transformer gives for used positions


@dataclass(frozen=True)
class Removals:
    """Texts without a run of positions each: what stays before it, and what follows it."""

    row: Tensor  # [R] of the batch
    before: Tensor  # [R] positions that stay as they are
    start: Tensor  # [R] the first position that is computed
    count: Tensor  # [R] how many are, at least 1

    @classmethod
    def of(cls, row: Tensor, start: Tensor, stop: Tensor, lengths: Tensor) -> Removals:
        """Those without [start, stop) of texts of these lengths, each [R]."""
        last = stop == lengths  # then the answer is read from the position before, which is computed again
        before = torch.where(last, start - 1, start)
        start = torch.where(last, start - 1, stop)
        return cls(row, before, start, torch.where(last, 1, lengths - stop))

    def take(self, some: Tensor) -> Removals:
        return Removals(self.row[some], self.before[some], self.start[some], self.count[some])

    def groups(self) -> Iterator[Tensor]:
        """The numbers of removals for one pass each, of which nearly equally many positions are computed.

        A pass reads all weights once, whatever it computes, so a few positions of padding cost less than
        another pass.
        """
        order = torch.argsort(self.count * (int(self.before.max()) + 1) + self.before, stable=True)
        group: list[int] = []
        widest = padding = 0  # positions of a row, and those that are computed for nothing
        for number in reversed(order.tolist()):  # the longest first
            count, before = int(self.count[number]), int(self.before[number])
            width = max(widest, count, before // SPARE)
            longest = int(self.count[group[0]]) if group else count
            if group and (width * (len(group) + 1) > IN_CACHE or padding + longest - count > FOR_A_PASS):
                yield torch.tensor(group, device=order.device)
                group, longest, padding, width = [], count, 0, max(count, before // SPARE)
            group.append(number)
            widest, padding = width, padding + longest - count
        if group:
            yield torch.tensor(group, device=order.device)


def without_each(network: Network, read: Read, batch: Batch, embeddings: Tensor) -> Tensor:
    """[B, L, C] logits without the pieces of each column on the mask; 0 off it and for a single unit."""
    packing = network.packing(batch, embeddings)
    vectors = packing.pack(embeddings)  # [B, T, E]
    several = batch.mask & (batch.mask.sum(1, keepdim=True) > 1)  # [B, L]
    found: Tensor | None = None
    for rows in packing.passes():
        part = packing.take(rows)
        row, column = several[rows].nonzero(as_tuple=True)
        removed = part.column[row] == column[:, None]  # [R, T], one run of positions
        width = part.used.shape[1]
        lengths = part.used.sum(1)  # padding is on the left
        start = removed.byte().argmax(1) - (width - lengths)[row]
        wanted = Removals.of(row, start, start + removed.sum(1), lengths[row])
        logits = logits_of(network, read, part, vectors[rows], wanted)  # [R, C]
        if found is None:
            found = logits.new_zeros(*batch.mask.shape, logits.shape[-1])
        found[rows[row], column] = logits
    assert found is not None
    return found


def logits_of(network: Network, read: Read, packing: Packing, vectors: Tensor, wanted: Removals) -> Tensor:
    """[R, C] for texts [B, T, E] with something removed."""
    with quiet():
        whole = _call(network, vectors, packing.used, _places(packing.used))
    layers = [(layer.keys, layer.values) for layer in whole.past_key_values.layers]
    padding = (~packing.used).sum(1)  # [B]
    own = read(whole, packing.used)
    logits = own.new_zeros(len(wanted.row), own.shape[-1])
    for numbers in wanted.groups() if len(wanted.row) else ():
        logits[numbers] = read(*_shortened(network, vectors, layers, padding, wanted.take(numbers)))
    return logits


def _shortened(
    network: Network, vectors: Tensor, layers: list[tuple[Tensor, Tensor]], padding: Tensor, some: Removals
) -> tuple[Any, Tensor]:
    """The output for what follows the removed positions, padded before it; what is used of it [r, P + q]."""
    device = vectors.device
    most, count = int(some.before.max()), int(some.count.max())
    shift = (padding[some.row] + some.before - most)[:, None]  # what stays is aligned at its end
    stays = shift + torch.arange(most, device=device)  # [r, P]
    there = torch.arange(most, device=device) >= most - some.before[:, None]  # [r, P]
    number = torch.arange(count, device=device) - (count - some.count[:, None])  # [r, q] below 0: padding
    follows = (padding[some.row] + some.start)[:, None] + number.clamp_min(0)
    places = some.before[:, None] + number.clamp_min(0)
    used = torch.cat([there, number >= 0], 1)
    given = vectors[some.row[:, None], follows]  # [r, q, E]
    kept = None
    if most:
        from transformers import DynamicCache

        at = some.row[:, None], slice(None), stays.clamp_min(0)
        kept = DynamicCache()
        for layer, (keys, values) in enumerate(layers):  # [r, P, M, D] by indexing, then [r, M, P, D]
            kept.update(keys[at].transpose(1, 2), values[at].transpose(1, 2), layer)
    with quiet():
        return _call(network, given, used, places, kept), used


def _call(network: Network, vectors: Tensor, used: Tensor, places: Tensor, kept: Any = None) -> Any:
    return network._call(
        vectors,
        attention_mask=used.long(),
        position_ids=places,
        past_key_values=kept,
        use_cache=True,
        logits_to_keep=1,
    )


def _places(used: Tensor) -> Tensor:
    return (used.long().cumsum(1) - 1).clamp_min(0)


def can_reuse(network: Network, read: Read) -> bool:
    """Whether a trial with states that are read again gives what a whole pass gives.

    Layers that see only so far back keep only that much, so texts may not be longer than that.
    """
    config = network.transformer.config
    window = getattr(config, "sliding_window", None)
    if not (network.left and network.takes_positions and network.takes_mask and not network.alone):
        return False
    if window is not None and window < network.pieces.limit:
        return False
    vectors = network._probe()
    used = torch.ones(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
    row = torch.zeros(3, dtype=torch.long, device=vectors.device)
    starts, stops = (torch.tensor(at, device=vectors.device) for at in ((0, 2, 5), (1, 4, PROBED)))
    wanted = Removals.of(row, starts, stops, torch.full_like(row, PROBED))
    training = network.transformer.training
    network.transformer.eval()
    try:
        with quiet(), torch.no_grad():
            ours = logits_of(network, read, _packing(used), vectors, wanted)
            for number, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
                left = torch.cat([vectors[:, :start], vectors[:, stop:]], 1)
                kept = torch.ones(left.shape[:2], dtype=torch.bool, device=left.device)
                whole = read(_call(network, left, kept, _places(kept)), kept)
                if not alike(ours[number : number + 1], whole):
                    return False
    except Exception:
        return False
    finally:
        network.transformer.train(training)
    return True


def _packing(used: Tensor) -> Packing:
    """That of rows whose positions are all their own columns."""
    at = torch.arange(used.shape[1], device=used.device).expand_as(used)
    return Packing(at, used, at, used, torch.zeros_like(at), used.shape[1], 1)
