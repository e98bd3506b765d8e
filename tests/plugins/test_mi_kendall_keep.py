"""`mi-kendall`: what is kept of a batch, against a loop over examples."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Corpus, Evidence, Example, Importance
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.testing import ToyModel
from attnx_information.mi_kendall import MiKendall
from attnx_information.options import MiKendallOptions

Kept = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def keep(lengths: Sequence[int], values: str = "random", **options: Any) -> tuple[Evidence, Kept, Corpus]:
    """What is kept of toy sentences of these lengths."""
    model = ToyModel()
    rng = np.random.default_rng(0)
    words = ("one", "two", "three", "four", "five")
    examples = [Example(f"e{i}", tuple(rng.choice(words, n)), 0) for i, n in enumerate(lengths)]
    batch = model.encode(examples)
    with evaluating(model):
        trace = trace_of(model, batch)
    noise = Randomness(3).uniform(batch)[:, 0].float() - (0.5 if values == "signed" else 0.0)
    found = torch.zeros_like(noise) if values == "zero" else noise.masked_fill(~batch.mask, 0.0)
    evidence = Evidence(trace, Importance("it", found, trace.predicted), None, model, Randomness(0))
    corpus = Corpus(unit_counts=torch.tensor(lengths))
    hidden, shares, attention, logits, place = MiKendall(MiKendallOptions(**options)).keep(evidence, corpus)
    return evidence, (hidden, shares, attention, logits, place), corpus


@pytest.mark.parametrize("values", ["random", "signed"])
def test_states_are_kept_by_the_size_of_their_units_importance(values: str) -> None:
    lengths = [4, 7, 2, 5, 4, 9, 4, 6, 4, 4, 4]
    evidence, (hidden, shares, attention, logits, _), _ = keep(lengths, values)
    assert hidden.shape == (11, 4, 2)  # one of eleven is shorter than 4
    assert torch.equal(logits, evidence.trace.logits.double())
    for row, n in enumerate(lengths):
        size = evidence.explanation.values[row, :n].double().abs().tolist()
        order = sorted(range(n), key=lambda unit: -size[unit])[:4]
        assert torch.equal(hidden[row, : len(order)], evidence.trace.hidden[row, order])
        expected = [size[unit] / sum(size) for unit in order] + [math.nan] * (4 - len(order))
        np.testing.assert_allclose(shares[row], expected)
        weights = sorted(evidence.trace.attention[row, :n].tolist(), reverse=True)[:4]
        np.testing.assert_allclose(attention[row], weights + [math.nan] * (4 - len(order)))


def test_ranks_are_the_10th_percentile_of_lengths() -> None:
    rng = np.random.default_rng(1)
    for count in (7, 10, 11, 25):
        lengths = rng.integers(2, 15, count).tolist()
        _, (_, shares, _, _, _), _ = keep(lengths)
        assert shares.shape[1] == np.percentile(lengths, 10, method="lower")


def test_ties_are_ranked_by_position() -> None:
    model = ToyModel()
    words = ("one", "two", "three", "four", "five") * 40
    with evaluating(model):
        trace = trace_of(model, model.encode([Example("long", words, 0)]))
    same = Importance("uniform", torch.full_like(trace.attention, 0.005), trace.predicted)
    evidence = Evidence(trace, same, None, model, Randomness(0))
    hidden, *_ = MiKendall(MiKendallOptions()).keep(evidence, Corpus(unit_counts=torch.tensor([200])))
    assert torch.equal(hidden[0], trace.hidden[0])


def test_ranks_are_capped() -> None:
    _, (hidden, shares, _, _, _), _ = keep([6] * 10, max_ranks=2)
    assert hidden.shape[:2] == shares.shape == (10, 2)


def test_a_batch_of_short_examples_is_kept_in_the_shape_of_the_others() -> None:
    model = ToyModel()
    with evaluating(model):
        trace = trace_of(model, model.encode([Example("short", ("one", "two"), 0)]))
    evidence = Evidence(trace, Importance("it", trace.attention, trace.predicted), None, model, Randomness(0))
    kept = MiKendall(MiKendallOptions()).keep(evidence, Corpus(unit_counts=torch.tensor([5] * 19 + [2])))
    assert kept[0].shape == (1, 5, 2)
    assert kept[1].isnan().tolist() == [[False, False, True, True, True]]


def test_an_explanation_that_is_0_everywhere_ranks_nothing() -> None:
    _, (_, shares, _, _, _), _ = keep([3, 4], "zero")
    assert shares.isnan().all()
