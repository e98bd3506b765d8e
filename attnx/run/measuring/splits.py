"""A split of a task in padded batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from ...formulas.chunks import COLUMNS, similar_lengths
from ...protocols import Model
from ...types import Batch, Corpus, Example, ExplainedClass, TaskData

DONORS = 100  # examples: enough words to draw from, few enough for every batch
WIDEST = 2**17  # columns of a training batch: one text of 20 000 words must not widen thirty others to that


class Split:
    """Examples that a model encodes batch by batch, each padded to its own longest example.

    Only the sizes are stored, on the CPU: memory is that of one batch, one long text does not make the
    others more expensive, and the order of the work does not depend on the device.
    """

    def __init__(
        self,
        model: Model,
        examples: Sequence[Example],
        device: torch.device,
        donors: tuple[Example, ...] = (),
        explained: ExplainedClass | None = None,
    ) -> None:
        self.examples, self._model, self._device = examples, model, device
        self.donors = donors  # examples whose units can stand in for others
        self.explained = explained or ExplainedClass()
        self.labels = torch.tensor([example.label for example in examples], dtype=torch.long)  # [N]
        self.lengths = torch.zeros_like(self.labels)  # [N] columns in use
        self.unit_counts = torch.zeros_like(self.labels)  # [N] columns on the mask
        self.unread = torch.zeros_like(self.labels)  # [N] units without a column: the text is too long
        guess = torch.tensor([len(example.units) for example in examples], dtype=torch.long)
        for rows in similar_lengths(guess):
            batch = model.encode(self.at(rows))
            self.lengths[rows] = batch.lengths.to(self.lengths)
            self.unit_counts[rows] = batch.mask.sum(1)
            units = [len(example.units) for example in batch.examples]
            self.unread[rows] = torch.tensor(units) - self.unit_counts[rows]

    def __len__(self) -> int:
        return len(self.examples)

    def among(self, rows: Sequence[int]) -> Split:
        """The examples at these rows as a split of their own."""
        examples = [self.examples[row] for row in rows]
        return Split(self._model, examples, self._device, self.donors, self.explained)

    @property
    def corpus(self) -> Corpus:
        """What is known about the split before it is measured."""
        return Corpus(unit_counts=self.unit_counts, donors=self.donors, explained=self.explained)

    def take(self, rows: Tensor) -> Batch:
        """The examples at these rows, on the device, without the columns that none of them uses."""
        return encode(self._model, self.at(rows), self._device)

    def at(self, rows: Tensor) -> list[Example]:
        """The examples at these rows."""
        return [self.examples[row] for row in rows.tolist()]


def donors_of(data: TaskData) -> tuple[Example, ...]:
    """Some training examples, or test examples of a task without any, the same in every run of a task."""
    among = data.train or data.test
    chosen = np.random.default_rng(0).permutation(len(among))[:DONORS]
    return tuple(among[row] for row in np.sort(chosen))


def encode(model: Model, examples: Sequence[Example], device: torch.device) -> Batch:
    """A batch on a device, without the columns that none of its examples uses."""
    batch = model.encode(examples)
    if batch.mask.shape[1] > int(batch.lengths.max()):
        batch = batch.take(torch.arange(len(batch)))
    return batch.to(device)


def batches(split: Split, columns: int = COLUMNS) -> Iterator[tuple[Tensor, Batch]]:
    """Rows and batches of similar length, each of about that many columns."""
    for rows in similar_lengths(split.lengths, columns):
        yield rows, split.take(rows)


def shuffled(split: Split, size: int, generator: torch.Generator) -> Iterator[Batch]:
    """Batches of `size` in random order, similar lengths together so that little is padded."""
    order = torch.randperm(len(split), generator=generator)
    uneven = bool((split.lengths != split.lengths[0]).any())
    if uneven:  # sort within windows of many batches: random enough, and short batches stay short
        windows = order.split(64 * size)
        order = torch.cat([window[split.lengths[window].argsort(stable=True)] for window in windows])
    parts = list(order.split(size))
    if uneven:
        parts = [parts[i] for i in torch.randperm(len(parts), generator=generator).tolist()]
    for rows in parts:
        for some in similar_lengths(split.lengths[rows], WIDEST):  # one, unless a text is very long
            yield split.take(rows[some])
