"""Shards: a split is cut into them, each is measured anywhere, and their results are merged.

A shard is some of the batches that a single process would make, so every pass through the model is the
same pass and the values are the same. It carries its examples: a worker never holds the whole split.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...formulas.chunks import similar_lengths
from ...progress import Progress
from ...protocols import Model
from ...request.plan import Plan, Tests
from ...request.spec import canonical_json, digest
from ...results.observations import AttributionCost, StoredScores
from ...store.weights import tensors_hash
from ...types import Batch, Corpus, Example, ExplainedClass
from ..measuring.attribution import Named
from ..measuring.measurement import measure
from ..measuring.partial_results import PartialResults
from ..measuring.score_keeper import ScoreKeeper
from ..measuring.splits import Split, encode

Array = np.ndarray[Any, np.dtype[Any]]

EXAMPLES = 4096  # of a shard, about: seconds of work, so little is lost with a worker
FEWEST = 16  # shards of a small split, if it has as many batches: workers end at about the same time


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """Some batches of a split, and what is measured on them."""

    rows: tuple[Array, ...]  # of each batch
    examples: tuple[tuple[Example, ...], ...]  # likewise
    unit_counts: Array  # [N] of the whole split
    donors: tuple[Example, ...]
    explained: ExplainedClass
    tests: Tests[str]  # by the labels in the plan
    stored: tuple[str, ...] | None  # the methods whose scores are stored; None: no scores are
    deletes: bool

    def __len__(self) -> int:
        return sum(map(len, self.rows))

    @property
    def name(self) -> str:
        """Its name within one seed of a run: which examples, in which batches, and what is measured."""
        numbers = {str(number): torch.from_numpy(rows) for number, rows in enumerate(self.rows)}
        numbers["unit counts"] = torch.from_numpy(self.unit_counts)
        return digest(tensors_hash(numbers), canonical_json([self.tests.roles, self.stored, self.deletes]))


def cut(
    split: Split, tests: Tests[Named], keeper: ScoreKeeper | None, count: int | None = None
) -> list[Shard]:
    """Deal the batches of a split out to shards, so that each shard has short and long examples."""
    groups = list(similar_lengths(split.lengths))
    many = count or max(FEWEST, math.ceil(len(split) / EXAMPLES))
    labels = tests.map(lambda named: named.label)
    return [
        Shard(
            rows=tuple(rows.numpy() for rows in dealt),
            examples=tuple(tuple(split.at(rows)) for rows in dealt),
            unit_counts=split.unit_counts.numpy(),
            donors=split.donors,
            explained=split.explained,
            tests=labels,
            stored=tuple(keeper.methods) if keeper else None,
            deletes=keeper.deletes if keeper else False,
        )
        for dealt in (groups[number::many] for number in range(min(many, len(groups))))
    ]


def measure_shard(shard: Shard, model: Model, plan: Plan, seed: int, device: torch.device) -> PartialResults:
    """Measure a shard in this process, batch after batch."""

    def given() -> Iterator[tuple[Tensor, Batch]]:
        for rows, examples in zip(shard.rows, shard.examples, strict=True):
            yield torch.from_numpy(rows), encode(model, examples, device)

    tests = Tests(
        *(
            tuple(Named.of(part) for part in parts if part.label in labels)
            for parts, labels in zip(plan.tests.roles, shard.tests.roles, strict=True)
        )
    )
    with Progress("off").stage("shard", len(shard)) as step:
        return measure(
            model,
            given(),
            tests,
            Corpus(torch.from_numpy(shard.unit_counts), shard.donors, shard.explained),
            step,
            seed=seed,
            size=len(shard),
            keeper=None if shard.stored is None else ScoreKeeper(shard.stored, shard.deletes),
            title=plan.model.title,
        )


def merge(shards: Sequence[PartialResults]) -> PartialResults:
    """Join the results of all shards of a split, one after the other."""
    first = shards[0]
    scores = [shard.scores for shard in shards if shard.scores is not None]
    return PartialResults(
        rows=torch.cat([shard.rows for shard in shards]),
        logits=torch.cat([shard.logits for shard in shards]),
        answers=tuple(
            tuple(torch.cat(tensors) for tensors in zip(*of_pair, strict=True))
            for of_pair in zip(*(shard.answers for shard in shards), strict=True)
        ),
        traits={name: torch.cat([shard.traits[name] for shard in shards]) for name in first.traits},
        costs={name: _total([shard.costs[name] for shard in shards]) for name in first.costs},
        on_cpu=frozenset().union(*(shard.on_cpu for shard in shards)),
        scores=StoredScores.chained(scores) if scores else None,
    )


def _total(costs: Sequence[AttributionCost]) -> AttributionCost:
    total = AttributionCost(0.0, 0, 0)
    for cost in costs:
        total = total.plus(cost.seconds, cost.passes, cost.examples, cost.reused)
    return total
