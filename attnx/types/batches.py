"""Examples as tensors, what one forward pass shows, and the outputs of a model for a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from ..errors import PluginError
from .examples import Example


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples as tensors, padded to a common number of columns.

    Attributes:
        examples: the examples.
        inputs: ids, or rows of `TaskData.features` [B, L].
        mask: True for positions that may be attended to [B, L].
        unit_index: the place of each column in `Example.units` [B, L], -1 for special columns and padding.
        lengths: how many columns are in use, special ones included [B].
        labels: the labels [B].
        rationale: 1 on the rationale, 0 elsewhere, NaN if it is not known [B, L].
        query: ids of the question [B, Q], for a model that reads it.
    """

    examples: tuple[Example, ...]
    inputs: Tensor  # [B, L]
    mask: Tensor  # [B, L] bool
    unit_index: Tensor  # [B, L]
    lengths: Tensor  # [B]
    labels: Tensor  # [B]
    rationale: Tensor  # [B, L]
    query: Tensor | None = None  # [B, Q]

    @classmethod
    def collate(
        cls, examples: Sequence[Example], *,
        inputs: Tensor, mask: Tensor, unit_index: Tensor, lengths: Tensor, query: Tensor | None = None,
    ) -> Batch:  # fmt: skip
        """Make a batch; labels and rationales are read from the examples.

        Args:
            examples: the examples.
            inputs: ids, or rows of `TaskData.features` [B, L].
            mask: True for positions that may be attended to [B, L].
            unit_index: the place of each column in `Example.units` [B, L], -1 for columns without a unit.
            lengths: how many columns are in use, special ones included [B].
            query: ids of the question [B, Q].

        Returns:
            The batch.
        """
        return cls(
            examples=tuple(examples),
            inputs=inputs,
            mask=mask,
            unit_index=unit_index,
            lengths=lengths,
            labels=torch.tensor([example.label for example in examples], device=inputs.device),
            rationale=_rationale(examples, unit_index.cpu()).to(inputs.device),
            query=query,
        )

    @classmethod
    def padded(
        cls,
        examples: Sequence[Example],
        rows: Sequence[Sequence[int]],
        *,
        padding: int = 0,
        query: Tensor | None = None,
    ) -> Batch:
        """Make a batch with one column per unit, filled up to the longest example.

        Args:
            examples: the examples.
            rows: for each example one number per unit: an id, or a row of `TaskData.features`.
            padding: the number that fills up shorter examples.
            query: the queries as ids [B, Q], for a model that reads them.

        Returns:
            The batch, on the CPU.

        Raises:
            PluginError: a row has not one number per unit.
        """
        for example, row in zip(examples, rows, strict=True):
            if len(row) != len(example.units):
                raise PluginError(
                    f"example '{example.id}' has {len(example.units)} units and {len(row)} numbers for them"
                )
        lengths = np.array([len(row) for row in rows])
        inside = np.arange(lengths.max())[None] < lengths[:, None]  # [B, L]
        inputs = np.full(inside.shape, padding)
        inputs[inside] = np.fromiter(chain.from_iterable(rows), dtype=inputs.dtype, count=lengths.sum())
        mask = torch.from_numpy(inside)
        columns = torch.arange(mask.shape[1]).expand_as(mask)
        return cls.collate(
            examples,
            inputs=torch.from_numpy(inputs),
            mask=mask,
            unit_index=columns.masked_fill(~mask, -1),
            lengths=torch.from_numpy(lengths),
            query=query,
        )

    def __len__(self) -> int:
        return len(self.examples)

    def take(self, rows: Tensor) -> Batch:
        """Take some examples out of the batch, without columns that none of them uses.

        Args:
            rows: which examples [R].

        Returns:
            The smaller batch.
        """
        columns = int(self.lengths[rows].max())
        return Batch(
            examples=tuple(self.examples[row] for row in rows.tolist()),
            inputs=self.inputs[rows, :columns],
            mask=self.mask[rows, :columns],
            unit_index=self.unit_index[rows, :columns],
            lengths=self.lengths[rows],
            labels=self.labels[rows],
            rationale=self.rationale[rows, :columns],
            query=None if self.query is None else self.query[rows],
        )

    def keep(self, rows: Tensor, columns: Tensor) -> Batch:
        """Keep only some columns; this is how units are deleted.

        Args:
            rows: which examples [R]; one may occur several times.
            columns: for each of them the columns that stay [R, n].

        Returns:
            The batch of shorter inputs; `examples` and `unit_index` still refer to the whole examples.
        """
        at = (rows[:, None], columns)
        return Batch(
            examples=tuple(self.examples[row] for row in rows.tolist()),
            inputs=self.inputs[at],
            mask=self.mask[at],
            unit_index=self.unit_index[at],
            lengths=torch.full_like(self.lengths[rows], columns.shape[1]),
            labels=self.labels[rows],
            rationale=self.rationale[at],
            query=None if self.query is None else self.query[rows],
        )

    def to(self, device: torch.device) -> Batch:
        """Move the batch to another device.

        Args:
            device: the device.

        Returns:
            The batch there.
        """
        tensors = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "examples"}
        return replace(self, **{name: t.to(device) for name, t in tensors.items() if t is not None})


def _rationale(examples: Sequence[Example], unit_index: Tensor) -> Tensor:
    """Lay rationales out by column [B, L], NaN if an example has none."""
    values = np.full(tuple(unit_index.shape), np.nan, dtype=np.float32)
    for row, example in enumerate(examples):
        if example.rationale is not None:
            by_unit = np.array([*example.rationale, False], dtype=np.float32)
            values[row] = by_unit[unit_index[row].numpy()]  # -1 reads the False at the end
    return torch.from_numpy(values)


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that one forward pass shows; NaN for what the model does not show.

    Attributes:
        batch: the batch.
        embeddings: the vectors of the units [B, L, E].
        hidden: the hidden states [B, L, H].
        scores: what attention is computed from [B, L].
        attention: the attention weights [B, L], which sum to 1 over the mask.
        logits: the output [B, C].
    """

    batch: Batch
    embeddings: Tensor  # [B, L, E]
    hidden: Tensor  # [B, L, H]
    scores: Tensor  # [B, L]
    attention: Tensor  # [B, L]
    logits: Tensor  # [B, C]

    @classmethod
    def of(
        cls, batch: Batch, embeddings: Tensor, logits: Tensor, *,
        attention: Tensor | None = None, scores: Tensor | None = None, hidden: Tensor | None = None,
    ) -> Trace:  # fmt: skip
        """Make the trace of a model that does not show everything.

        Args:
            batch: the batch.
            embeddings: the vectors of the units [B, L, E].
            logits: the output [B, C].
            attention: the attention weights [B, L], if they can be read.
            scores: what attention is computed from [B, L], if it can be read.
            hidden: the hidden states [B, L, H], if they can be read.

        Returns:
            The trace; what is not given is NaN, and 0 outside the mask.
        """
        unknown = torch.where(batch.mask, torch.nan, 0.0).to(embeddings)  # [B, L]
        return cls(
            batch=batch,
            embeddings=embeddings,
            hidden=unknown[..., None] if hidden is None else hidden,
            scores=unknown if scores is None else scores,
            attention=unknown if attention is None else attention,
            logits=logits,
        )

    def take(self, rows: Tensor) -> Trace:
        """Take some examples out of the trace, without columns that none of them uses.

        Args:
            rows: which examples [R].

        Returns:
            The smaller trace.
        """
        batch = self.batch.take(rows)
        used = batch.mask.shape[1]
        return Trace(
            batch=batch,
            embeddings=self.embeddings[rows, :used],
            hidden=self.hidden[rows, :used],
            scores=self.scores[rows, :used],
            attention=self.attention[rows, :used],
            logits=self.logits[rows],
        )

    @property
    def probabilities(self) -> Tensor:
        """The probabilities of the classes [B, C]."""
        return self.logits.softmax(-1)  # [B, C]

    @property
    def predicted(self) -> Tensor:
        """The most probable class [B]."""
        return self.logits.argmax(-1)  # [B]


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of a model for every example of a split, in their order.

    Attributes:
        probabilities: the probabilities of the classes [N, C].
        attention: for every example its attention over its units [n].
        rationale: for every example 1 on the rationale, 0 elsewhere, NaN if it is not known [n].
        labels: the labels [N].
    """

    probabilities: Tensor  # [N, C]
    attention: tuple[Tensor, ...]
    rationale: tuple[Tensor, ...]
    labels: Tensor  # [N]

    @property
    def correct(self) -> Tensor:
        """1 for an example that is classified correctly, else 0 [N]."""
        return (self.probabilities.argmax(1) == self.labels).double()  # [N]
