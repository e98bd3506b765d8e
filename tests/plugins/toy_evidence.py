"""Evidence about the toy model with given scores, and outputs of texts that are shortened by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Evidence, Example, ImportanceMethod, Model, Trace
from attnx.run.measuring.attribution import AgainExplaining, Named, attribute
from attnx.testing.toy import WORDS, ToyModel


def texts(count: int = 6, size: int = 6, seed: int = 0) -> list[Example]:
    """Texts of the toy model's words."""
    rng = np.random.default_rng(seed)
    return [Example(f"t-{n}", tuple(rng.choice(WORDS, size).tolist()), n % 2) for n in range(count)]


class Given(ImportanceMethod):
    """Scores by the place of a unit in its text, whatever the model."""

    def __init__(self, rows: Sequence[Sequence[float]], *, signed: bool = False) -> None:
        self.rows, self.signed = rows, signed

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        values = torch.zeros(trace.batch.mask.shape, dtype=torch.float64)
        for at, example in enumerate(trace.batch.examples):
            row = self.rows[int(example.id.partition("-")[2])]
            for column in trace.batch.mask[at].nonzero()[:, 0].tolist():
                values[at, column] = row[int(trace.batch.unit_index[at, column])]
        return values


@torch.no_grad()
def evidence_of(
    method: ImportanceMethod,
    examples: Sequence[Example],
    model: ToyModel | None = None,
    *,
    reference: ImportanceMethod | None = None,
) -> Evidence:
    """Everything about one explanation of the toy model."""
    model = (model or ToyModel()).eval()
    batch = model.encode(examples)
    trace = model.run(batch, model.embed(batch))
    found = attribute(Named("it", method), model, trace, trace.predicted)
    compared = attribute(Named("other", reference), model, trace, trace.predicted) if reference else None
    return Evidence(trace, found, compared, model, Randomness(0), AgainExplaining(Named("it", method), 0))


@torch.no_grad()
def probability(model: ToyModel, units: Sequence[str], target: int) -> float:
    """Of a class, for one text alone."""
    batch = model.encode([Example("x", tuple(units), 0)])
    return float(model.run(batch, model.embed(batch)).logits.double().softmax(-1)[0, target])


def without(example: Example, gone: set[int]) -> list[str]:
    """The words of a text without those at some places."""
    return [word for place, word in enumerate(example.units) if place not in gone]
