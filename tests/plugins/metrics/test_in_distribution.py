"""The caution on unlikely inputs: p-values against loops and scipy, and inputs of known likelihood."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats
from toy_evidence import Given, evidence_of, texts

import attnx
from attnx.plugin import Corpus, Evidence, JointEvidence
from attnx_in_distribution.in_distribution import InDistribution
from attnx_in_distribution.masf import TrainingActivations, _fisher, _p_values, _simes, activations
from attnx_in_distribution.options import InDistributionOptions


def test_p_values_of_neurons_count_activations_that_are_as_extreme() -> None:
    rng = np.random.default_rng(0)
    known, values = rng.normal(size=(30, 4)), rng.normal(size=(7, 4)) * 2
    found = _p_values(torch.tensor(values), torch.tensor(known), own=False)
    own = _p_values(torch.tensor(known), torch.tensor(known), own=True)
    for neuron in range(4):
        for row in range(7):
            tails = [
                (known[:, neuron] <= values[row, neuron]).sum(),
                (known[:, neuron] >= values[row, neuron]).sum(),
            ]
            assert float(found[row, neuron]) == pytest.approx(min(1, 2 * (min(tails) + 1) / 31))
        for row in range(30):
            others = np.delete(known[:, neuron], row)
            tails = [(others <= known[row, neuron]).sum(), (others >= known[row, neuron]).sum()]
            assert float(own[row, neuron]) == pytest.approx(min(1, 2 * (min(tails) + 1) / 30))


def test_simes_and_fisher_are_those_of_their_definitions() -> None:
    p = np.random.default_rng(1).random((5, 6))
    simes = [min(6 * value / (rank + 1) for rank, value in enumerate(sorted(row))) for row in p]
    assert _simes(torch.tensor(p)).tolist() == pytest.approx(np.minimum(simes, 1).tolist())
    fisher = [stats.combine_pvalues(row, "fisher").statistic for row in p]
    assert _fisher(list(torch.tensor(p).T)).tolist() == pytest.approx(fisher)


def test_inputs_like_training_inputs_get_uniform_p_values_and_others_small_ones() -> None:
    generator = torch.Generator().manual_seed(0)

    def drawn(count: int, shift: float = 0.0) -> tuple[torch.Tensor, ...]:
        return tuple(torch.randn(count, size, generator=generator).double() + shift for size in (20, 8, 2))

    known = TrainingActivations.of(drawn(99))
    same = known.p_values(drawn(3000))
    assert float((same <= 0.05).double().mean()) == pytest.approx(0.05, abs=0.035)
    assert float((same <= 0.5).double().mean()) == pytest.approx(0.5, abs=0.12)
    assert float((known.p_values(drawn(200, shift=3.0)) <= 0.05).double().mean()) > 0.95


def joint(seen: Evidence, donors: int) -> JointEvidence:
    corpus = Corpus(seen.trace.batch.mask.sum(1), tuple(texts(donors, seed=9)))
    return JointEvidence(seen.trace, {"it": seen.explanation}, seen.model, seen.random, corpus)


@torch.no_grad()
def test_shortened_texts_are_compared_with_training_texts() -> None:
    examples = texts(8)
    scores = np.random.default_rng(0).random((8, 6)).tolist()
    seen = evidence_of(Given(scores), examples)
    metric = InDistribution(InDistributionOptions(bins=(10, 50), level=0.3))
    found = metric(joint(seen, 60))[0]
    model = seen.model
    train = model.encode(texts(60, seed=9))
    known = TrainingActivations.of(activations(model.run(train, model.embed(train))))
    assert len(known.groups) == 3

    def unlikely(places: set[int], row: int) -> float:
        batch = model.encode([examples[row].keep(sorted(places))])
        return float(known.p_values(activations(model.run(batch, model.embed(batch))))[0] <= 0.3)

    for row in range(8):
        order = np.argsort(scores[row])[::-1].tolist()
        tops = [set(order[:1]), set(order[:3])]
        without = np.mean([unlikely(set(range(6)) - top, row) for top in tops])
        only = np.mean([unlikely(top, row) for top in tops])
        assert found[row].tolist() == pytest.approx([without, only, unlikely(set(range(6)), row)])
    assert 0 < float(found.mean()) < 1


def test_a_report_warns_of_unlikely_inputs_and_decides_nothing_by_them(home) -> None:
    report = attnx.evaluate(
        "sdc-text:train=150,dev=20,test=40", "cnn-small", metrics="in-distribution",
        training={"epochs": 2}, progress=False,
    )  # fmt: skip
    rows = {s.measure: s for s in report.summaries if s.explanation == "attention" and s.predicted is None}
    assert rows["unlikely-whole"].mean < 0.3
    warned = [caution for caution in report.warnings if caution.kind == "unlikely-inputs"]
    for measure in ("unlikely-without-top", "unlikely-only-top"):
        above = rows[measure].mean >= 0.1 and rows[measure].low > rows["unlikely-whole"].high
        assert any(caution.about == ("attention", measure) for caution in warned) == above
    assert rows["unlikely-only-top"].mean > 0.5  # one or two words are not a text of this task
    assert all(verdict.share is None for verdict in report.verdicts)
