"""A split in shards that are measured anywhere, with the values of a split that is measured at once.

A shard is some of the batches that a single process would make, so that every pass through the model
is the same pass. It carries its examples: whoever measures it never holds the whole split.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...formulas.chunks import similar_lengths
from ...progress import Progress
from ...protocols import Model
from ...request.plan import Part, Plan
from ...request.spec import canonical_json, digest
from ...store.weights import tensors_hash
from ...types import Batch, Corpus, Example
from ..measuring.attribution import Named
from ..measuring.measurement import Wanted, measure
from ..measuring.partial_results import PartialResults
from ..measuring.score_keeper import ScoreKeeper
from ..measuring.splits import Split, encode

Array = np.ndarray[Any, np.dtype[Any]]

EXAMPLES = 4096  # of a shard, about: seconds of work, and little to lose
FEWEST = 16  # shards of a small split that has as many batches: several workers end together


@dataclass(frozen=True, slots=True)
class Labels:
    """What is wanted, by the labels it has in a plan."""

    explanations: tuple[str, ...]
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    baselines: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """Some batches of a split, and what is wanted of them."""

    rows: tuple[Array, ...]  # of each batch
    examples: tuple[tuple[Example, ...], ...]  # likewise
    unit_counts: Array  # [N] of the whole split
    labels: Labels
    kept: tuple[str, ...] | None  # the methods whose scores are kept
    deletes: bool

    def __len__(self) -> int:
        return sum(map(len, self.rows))

    @property
    def name(self) -> str:
        """What it is within a run with one seed: which examples, in which batches, and what of them."""
        numbers = {str(number): torch.from_numpy(rows) for number, rows in enumerate(self.rows)}
        numbers["unit counts"] = torch.from_numpy(self.unit_counts)
        asked = [getattr(self.labels, role.name) for role in fields(Labels)]
        return digest(tensors_hash(numbers), canonical_json([asked, self.kept, self.deletes]))


def cut(split: Split, wanted: Wanted, count: int | None = None) -> list[Shard]:
    """The batches of a split dealt out to shards, so that each has short examples and long ones."""
    groups = list(similar_lengths(split.lengths))
    many = count or max(FEWEST, math.ceil(len(split) / EXAMPLES))
    labels = Labels(*(tuple(named.label for named in getattr(wanted, role.name)) for role in fields(Labels)))
    keeper = wanted.keeper
    return [
        Shard(
            rows=tuple(rows.numpy() for rows in dealt),
            examples=tuple(tuple(split.at(rows)) for rows in dealt),
            unit_counts=split.unit_counts.numpy(),
            labels=labels,
            kept=tuple(keeper.methods) if keeper else None,
            deletes=keeper.deletes if keeper else False,
        )
        for dealt in (groups[number::many] for number in range(min(many, len(groups))))
    ]


def measure_shard(shard: Shard, model: Model, plan: Plan, seed: int, device: torch.device) -> PartialResults:
    """What one process finds in a shard, batch after batch."""

    def given() -> Iterator[tuple[Tensor, Batch]]:
        for rows, examples in zip(shard.rows, shard.examples, strict=True):
            yield torch.from_numpy(rows), encode(model, examples, device)

    wanted = Wanted(
        explanations=_named(plan.explanations, shard.labels.explanations),
        references=_named(plan.references, shard.labels.references),
        metrics=_named(plan.metrics, shard.labels.metrics),
        baselines=_named(plan.baselines, shard.labels.baselines),
        seed=seed,
        keeper=None if shard.kept is None else ScoreKeeper(shard.kept, shard.deletes),
        title=plan.model.title,
    )
    corpus = Corpus(unit_counts=torch.from_numpy(shard.unit_counts))
    with Progress("off").stage("shard", len(shard)) as step:
        return measure(model, given(), wanted, corpus, step)


def _named(parts: tuple[Part, ...], labels: tuple[str, ...]) -> tuple[Named, ...]:
    known = {part.label: part for part in parts}
    return tuple(Named(label, known[label].make(), known[label].provider) for label in labels)
