"""A text that is longer than a model reads, in windows that overlap."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnx.plugin import UsageError

from .packing import Packing


@dataclass(frozen=True)
class Windows:
    """The rows of a batch in windows, each with what is read before and after every text.

    A window begins step = room − overlap pieces after the one before it, where room is what is left of the
    limit for the text; the last one ends with the text. A text that fits is one window.
    """

    row: Tensor  # [W] of the batch
    packing: Packing  # of W windows

    @classmethod
    def of(cls, packing: Packing, mask: Tensor, limit: int, overlap: int, left: bool) -> Windows:
        """Cut rows whose words [B, L] are marked, into windows of at most `limit` pieces."""
        word = packing.used & mask.gather(1, packing.column.clamp_min(0))  # [B, T]
        rows: list[int] = []
        windows: list[list[int]] = []  # positions
        for row, (used, inside) in enumerate(zip(packing.used.tolist(), word.tolist(), strict=True)):
            places = [at for at, there in enumerate(used) if there]
            text = [at for at in places if inside[at]]
            cut = _cut(places, text[0], text[-1], limit, overlap) if len(places) > limit else [places]
            windows += cut
            rows += [row] * len(cut)
        width = max(map(len, windows))
        device = packing.used.device
        blank = [[-1] * (width - len(places)) for places in windows]
        filled = [(b + w if left else w + b) for b, w in zip(blank, windows, strict=True)]
        at = torch.tensor(filled, device=device)  # [W, T]
        row_of = torch.tensor(rows, device=device)
        there, from_ = at >= 0, (row_of[:, None], at.clamp_min(0))
        taken = Packing(
            place=packing.place[from_],
            used=there,
            column=packing.column[from_].masked_fill(~there, -1),
            first=packing.first[from_] & there,
            kind=packing.kind[from_].masked_fill(~there, 0),
            columns=packing.columns,
            slots=packing.slots,
        )
        return cls(row_of, taken)

    def mean(self, values: Tensor, rows: int) -> Tensor:
        """[B, ...] the mean over the windows of each row, of [W, ...]."""
        count = torch.bincount(self.row, minlength=rows).to(values)
        total = values.new_zeros(rows, *values.shape[1:]).index_add(0, self.row, values)
        return total / count.view(-1, *[1] * (values.ndim - 1))


def _cut(places: list[int], first: int, last: int, limit: int, overlap: int) -> list[list[int]]:
    """Windows over the positions from the first word to the last, each with all others around it."""
    head = [at for at in places if at < first]
    text = [at for at in places if first <= at <= last]
    tail = [at for at in places if at > last]
    room = limit - len(head) - len(tail)
    check_overlap(overlap, room)
    starts = range(0, max(1, len(text) - overlap), room - overlap)
    return [[*head, *text[start : start + room], *tail] for start in starts]


def check_overlap(overlap: int, room: int) -> None:
    """Refuse windows of which the next would not begin after the one before it."""
    if room <= overlap:
        raise UsageError(
            f"overlap={overlap}: a window has room for {max(room, 0)} pieces of a text; "
            "give a smaller number."
        )
