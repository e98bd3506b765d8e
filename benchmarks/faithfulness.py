"""The removal test of the verdict: both removals, both questions, five explanations, random and best orders.

ours    the metric `faithfulness`: all orders together, and no changed text twice
peer    the same test with a plain loop: every text with units removed is read by itself
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

import attnx_erasure.faithfulness as removal_test
from attnx.formulas import Randomness
from attnx.formulas.erasure import remembering
from attnx.plugin import Corpus, Example, Importance, JointEvidence, Model, TaskData
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.options import BiLstmOptions
from attnx_erasure.options import FaithfulnessOptions
from attnx_erasure.removals import Deleting, Draws, Replacing
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax

from .minilm import classifier
from .peers import random_texts
from .timing import Row, best_of

EXPLANATIONS = 5
CLOSE = 1e-4  # of means of probabilities: two units of equal effect may change places


def rows(tiny: bool = False) -> Iterator[Row]:
    """Seconds of ours and of the loop, and whether both computed the same."""
    texts = random_texts(1, 2, 2) if tiny else random_texts(16, 15, 25)
    donors = random_texts(10, 15, 25, seed=1)
    torch.manual_seed(0)
    data = TaskData((*texts, *donors), (), (), ("no", "yes"))
    bilstm = BiLstm.build(data, Softmax(SoftmaxOptions()), BiLstmOptions()).eval()
    with torch.no_grad():
        bilstm.word_vectors.weight.mul_(10.0)  # large enough for words to matter
    options = FaithfulnessOptions(bins=(50,), draws=1, orders=2) if tiny else FaithfulnessOptions()
    yield _row("BiLSTM", bilstm, texts, donors, options, 5.0)
    with classifier() as (minilm, _):
        yield _row("MiniLM", minilm, texts[:4], donors, options, 2.5)


def _row(
    name: str,
    model: Model,
    texts: Sequence[Example],
    donors: Sequence[Example],
    options: FaithfulnessOptions,
    target: float,
) -> Row:
    metric = removal_test.Faithfulness(options)
    with evaluating(model), torch.no_grad():
        trace = trace_of(model, model.encode(texts))
        mask, draw = trace.batch.mask, torch.Generator().manual_seed(0)
        scores = [torch.rand(mask.shape, generator=draw) * mask for _ in range(EXPLANATIONS)]
        given = {str(n): Importance(str(n), values, trace.predicted) for n, values in enumerate(scores)}
        evidence = JointEvidence(trace, given, model, Randomness(0), Corpus(mask.sum(1), tuple(donors)))

        def ours() -> Tensor:
            with remembering(model, trace.batch) as known:
                known.recalls = True
                return metric(evidence)

        def loop() -> Tensor:
            with (
                patch.object(removal_test, "Deleting", LoopDeleting),
                patch.object(removal_test, "Replacing", LoopReplacing),
            ):
                return metric(evidence)

        best = best_of(1, {"ours": ours, "loop": loop})
    found, expected = (best[who].result.nanmean(1) for who in ("ours", "loop"))
    same = bool(((found - expected).abs().nan_to_num() < CLOSE).all())
    work = f"faithfulness, {name}, {len(texts)} texts of ~20, {EXPLANATIONS} explanations / loop"
    return Row(work, best["ours"].seconds, best["loop"].seconds, target, same)


class LoopDeleting(Deleting):
    """Every shortened text by itself."""

    def probabilities(self, rows: Tensor, gone: Tensor, draws: Draws) -> Tensor:
        """See `Removal`."""
        found = [_one(super(LoopDeleting, self), row, rows, gone, draws) for row in range(len(rows))]
        return torch.cat(found)


class LoopReplacing(Replacing):
    """Every changed text by itself, even one that was read before."""

    def probabilities(self, rows: Tensor, gone: Tensor, draws: Draws) -> Tensor:
        """See `Removal`."""
        found = []
        for row in range(len(rows)):
            self.known.clear()
            each = [_one(super(LoopReplacing, self), row, rows, gone, (draw,)) for draw in draws]
            found.append(torch.cat(each, 1))
        return torch.cat(found)


def _one(removal: Any, row: int, rows: Tensor, gone: Tensor, draws: Draws) -> Tensor:
    found: Tensor = removal.probabilities(rows[row : row + 1], gone[row : row + 1], draws)
    return found
