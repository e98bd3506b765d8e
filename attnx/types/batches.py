"""Examples as tensors, what one forward pass shows of them, and what a model gives for a split."""

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
    """Examples as tensors, padded to a common number of columns."""

    examples: tuple[Example, ...]
    inputs: Tensor  # [B, L] ids, or rows of TaskData.features
    mask: Tensor  # [B, L] bool: may be attended to
    unit_index: Tensor  # [B, L] position in example.units, -1 for special columns and padding
    lengths: Tensor  # [B] columns in use, special ones included
    labels: Tensor  # [B]
    rationale: Tensor  # [B, L] 1 on the rationale, 0 off it, NaN where it is not known
    query: Tensor | None = None  # [B, Q] ids

    @classmethod
    def collate(
        cls, examples: Sequence[Example], *,
        inputs: Tensor, mask: Tensor, unit_index: Tensor, lengths: Tensor, query: Tensor | None = None,
    ) -> Batch:  # fmt: skip
        """A batch whose labels and rationales are read from its examples."""
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
        """The examples at these rows, without the columns that none of them uses."""
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
        """These rows [R], each with its own columns [R, n] alone; examples and unit indices stay."""
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
        """The same batch on another device."""
        tensors = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "examples"}
        return replace(self, **{name: t.to(device) for name, t in tensors.items() if t is not None})


def _rationale(examples: Sequence[Example], unit_index: Tensor) -> Tensor:
    """[B, L] rationales laid out by column, NaN where an example has none."""
    values = np.full(tuple(unit_index.shape), np.nan, dtype=np.float32)
    for row, example in enumerate(examples):
        if example.rationale is not None:
            by_unit = np.array([*example.rationale, False], dtype=np.float32)
            values[row] = by_unit[unit_index[row].numpy()]  # -1 reads the False at the end
    return torch.from_numpy(values)


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything one forward pass reveals."""

    batch: Batch
    embeddings: Tensor  # [B, L, E]
    hidden: Tensor  # [B, L, H]
    scores: Tensor  # [B, L]
    attention: Tensor  # [B, L] on the simplex over the mask
    logits: Tensor  # [B, C]

    @classmethod
    def of(
        cls, batch: Batch, embeddings: Tensor, logits: Tensor, *,
        attention: Tensor | None = None, scores: Tensor | None = None, hidden: Tensor | None = None,
    ) -> Trace:  # fmt: skip
        """A trace of a model that does not reveal everything: what it does not is NaN, off the mask 0."""
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
        """The examples at these rows, without the columns that none of them uses."""
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
    """What a model gives for every example of a split, in their order."""

    probabilities: Tensor  # [N, C]
    attention: tuple[Tensor, ...]  # N of them, each over the units of its example [n]
    rationale: tuple[Tensor, ...]  # likewise: 1 on the rationale, 0 off it, NaN where it is not known
    labels: Tensor  # [N]

    @property
    def correct(self) -> Tensor:
        """1 for an example that is classified correctly, else 0 [N]."""
        return (self.probabilities.argmax(1) == self.labels).double()  # [N]
