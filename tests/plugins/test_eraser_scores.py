"""`comprehensiveness` and `sufficiency`: against a loop over shortened examples, and with known verdicts."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from intervention_models import MODELS, Make, evidence_of, explained, measure, unexplained
from torch import Tensor

from attnx.formulas import chunks
from attnx.plugin import Batch, Evidence, Example, Model, Trace
from attnx.request.spec import validate_options
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.testing import ToyModel, toy_data
from attnx_erasure.comprehensiveness import Comprehensiveness
from attnx_erasure.erasure_curve import taken
from attnx_erasure.options import ErasureCurveOptions
from attnx_erasure.sufficiency import Sufficiency

OPTIONS = ErasureCurveOptions()
BOTH = (Comprehensiveness(OPTIONS), Sufficiency(OPTIONS))
every_model = pytest.mark.parametrize("make", MODELS)


@pytest.fixture(params=[8192, 30, 1])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How much is run at a time."""
    monkeypatch.setattr(chunks, "COLUMNS", request.param)
    return int(request.param)


def random_evidence(model: Model, examples: tuple[Example, ...]) -> Evidence:
    shape = evidence_of(model, examples).trace.attention.shape
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(4))
    return evidence_of(model, examples, 0, noise)


def curve(metric: Any, evidence: Evidence) -> Tensor:
    with evaluating(evidence.model):
        return metric(evidence)[1]


def probability(model: Model, example: Example, kept: list[int], target: int) -> float:
    """Of one class, for the example with only these units, encoded again."""
    fields = {name: getattr(example, name) for name in ("units", "rationale", "rows")}
    changes = {name: old and tuple(old[i] for i in kept) for name, old in fields.items()}
    with evaluating(model):
        logits = trace_of(model, model.encode([dataclasses.replace(example, **changes)])).logits
    return float(logits[0].double().softmax(-1)[target])


@every_model
def test_curves_are_what_a_loop_over_shortened_examples_gives(make: Make, columns: int) -> None:
    model, examples = make()
    evidence = random_evidence(model, examples)
    batch = evidence.trace.batch
    lost, kept_lost = (curve(metric, evidence) for metric in BOTH)
    for row, example in enumerate(batch.examples):
        values = evidence.explanation.values[row, batch.mask[row]].numpy()
        order, n = np.argsort(-values).tolist(), len(values)
        target = int(evidence.explanation.target[row])
        p = probability(model, example, list(range(n)), target)
        for column, percent in enumerate(OPTIONS.bins):
            k = max(1, -(-n * int(percent) // 100))
            top, rest = sorted(order[:k]), sorted(order[k:])
            assert lost[row, column] == pytest.approx(p - probability(model, example, rest, target), abs=3e-6)
            expected = p - probability(model, example, top, target)
            assert kept_lost[row, column] == pytest.approx(expected, abs=3e-6)


@every_model
@pytest.mark.parametrize("metric", BOTH)
def test_a_score_is_the_mean_of_its_curve_and_independent_of_the_batch(make: Make, metric: Any) -> None:
    model, examples = make()
    evidence = evidence_of(model, examples, seed=2)
    together = measure(metric, evidence)[:, 0]
    torch.testing.assert_close(together, curve(metric, evidence).mean(1))
    alone = torch.cat([measure(metric, evidence_of(model, (example,), seed=2)) for example in examples])
    torch.testing.assert_close(together, alone[:, 0], atol=1e-5, rtol=1e-4)


def test_shares_are_rounded_up_exactly() -> None:
    words = ("one", "two", "three", "four", "five")
    examples = tuple(Example(f"n{n}", (words * 20)[:n], 0) for n in (1, 2, 19, 20, 21, 30, 100))
    evidence = evidence_of(ToyModel(), examples)
    counts = taken(evidence, (1, 5, 10, 20, 50)).sum(-1).tolist()
    assert counts[0] == [1, 1, 1, 1, 1]
    assert counts[1] == [1, 1, 1, 1, 1]
    assert counts[2] == [1, 1, 2, 4, 10]
    assert counts[3] == [1, 1, 2, 4, 10]
    assert counts[4] == [1, 2, 3, 5, 11]
    assert counts[5] == [1, 2, 3, 6, 15]
    assert counts[6] == [1, 5, 10, 20, 50]
    assert taken(evidence, (7,))[6].sum() == 7  # though 100 · .07 is above 7 in floating point
    assert taken(evidence, (1e-8,)).sum(-1).eq(1).all()  # never none


def test_a_single_unit_cannot_be_deleted_and_is_sufficient() -> None:
    examples = (Example("alone", ("two",), 0), *toy_data().test)
    for shown in (examples, examples[:1]):
        evidence = evidence_of(NeverEmpty(), shown)
        assert measure(BOTH[0], evidence)[0].isnan().all()
        assert measure(BOTH[1], evidence)[0].tolist() == pytest.approx([0.0], abs=1e-7)
    assert not measure(BOTH[0], evidence_of(NeverEmpty(), examples))[1:].isnan().any()


class NeverEmpty(ToyModel):
    """Cannot run on an example without units, as many a model cannot."""

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        assert batch.mask.any(1).all()
        return super().run(batch, embeddings, attention=attention)


def test_all_units_are_sufficient_and_leave_nothing_to_delete() -> None:
    everything = ErasureCurveOptions(bins=(100,))
    evidence = evidence_of(NeverEmpty(), toy_data().test)
    assert measure(Sufficiency(everything), evidence).abs().max() < 1e-7
    assert measure(Comprehensiveness(everything), evidence).isnan().all()


def test_the_explained_class_counts_and_not_the_predicted_one() -> None:
    evidence = evidence_of(ToyModel(), toy_data().test)
    other = dataclasses.replace(evidence.explanation, target=1 - evidence.explanation.target)
    for metric in BOTH:
        mine, theirs = (
            measure(metric, evidence),
            measure(metric, dataclasses.replace(evidence, explanation=other)),
        )
        torch.testing.assert_close(mine, -theirs)  # of two classes one gains what the other loses


def test_attention_that_is_the_explanation_is_comprehensive_and_sufficient() -> None:
    model, examples = explained()
    evidence = evidence_of(model, examples)
    assert (measure(BOTH[0], evidence) > 0.7).all()
    assert (measure(BOTH[1], evidence).abs() < 0.01).all()
    worst = evidence_of(model, examples, 0, -evidence.trace.attention)
    assert (measure(BOTH[0], worst).abs() < 0.01).all()
    assert (measure(BOTH[1], worst) > 0.7).all()


def test_if_all_units_are_redundant_deleting_one_changes_nothing() -> None:
    evidence = evidence_of(*unexplained())
    for metric in BOTH:
        assert (measure(metric, evidence).abs() < 1e-6).all()


def test_bins_are_read_from_a_command_line_and_checked() -> None:
    assert ErasureCurveOptions(bins="1+5+12.5").bins == (1, 5, 12.5)  # type: ignore[arg-type]
    for wrong in ("5+1", "0+5", "5+5", "120", "few"):
        with pytest.raises(Exception, match="bins"):
            validate_options(ErasureCurveOptions, {"bins": wrong}, "metric 'sufficiency'")
