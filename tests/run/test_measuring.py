"""What the core does with the values of metrics."""

import gc
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attnx.formulas import Randomness, erasure
from attnx.plugin import Axis, Evidence, Measure, Metric, WithCurve
from attnx.progress import Progress
from attnx.request.plan import Tests
from attnx.run.measuring import batch_answers
from attnx.run.measuring.attribution import Named
from attnx.run.measuring.measurement import measure, observe
from attnx.run.measuring.splits import Split, batches
from attnx.testing import ToyModel, toy_data
from attnx_baselines.attention import Attention
from attnx_baselines.options import RandomOptions
from attnx_baselines.random import Random
from attnx_erasure.comprehensiveness import Comprehensiveness
from attnx_erasure.options import ErasureCurveOptions
from attnx_erasure.sufficiency import Sufficiency


class Broken:
    """Importance that is not finite for the second example."""

    needs = ()
    signed = False
    passes = 0
    computed = True

    def __call__(self, model: Any, trace: Any, target: Tensor, random: Randomness) -> Tensor:
        values = trace.attention.clone()
        second = [example == toy_data().test[1] for example in trace.batch.examples]
        values[second, 0] = torch.nan
        return values


class Top(Metric):
    """The unit with the highest score, wherever NaN may be sorted."""

    needs = ()
    family = "test"
    measures = (Measure("top", "none", (0, 100)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        return evidence.explanation.values.argmax(1).double()


class Curve(Top):
    axis = Axis("curve", "at", (0.0, 1.0))

    def __call__(self, evidence: Evidence) -> WithCurve:
        values = evidence.explanation.values.argmax(1).double()
        return WithCurve(values, torch.stack([values, values], dim=1))


class OfModel(Top):
    reads_explanation = False


def test_scores_that_are_not_finite_leave_their_example_undefined_and_no_other() -> None:
    model = ToyModel()
    found = observe(
        model,
        Split(model, toy_data().test, torch.device("cpu")),
        Tests(
            explanations=(Named("broken", Broken()),),
            metrics=(Named("top", Top()), Named("curve", Curve()), Named("model", OfModel())),
        ),
        seed=0,
        progress=Progress("off"),
        label="measuring",
    )
    top, curve, of_model = (m.values[:, 0] for m in found.measurements)
    expected = [i == 1 for i in range(len(top))]
    assert np.isnan(top).tolist() == np.isnan(curve).tolist() == expected
    assert not np.isnan(of_model).any()
    ((_, line),) = found.measurements[1].curves
    assert line.tolist() == [np.nanmean(curve)] * 2


def test_deletions_of_all_metrics_and_explanations_are_computed_together_with_the_same_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, calls = ToyModel(), []
    computed = erasure._logits_of_kept

    def counted(model: Any, batch: Any, rows: Tensor, kept: Tensor) -> Tensor:
        calls.append(len(rows))
        return computed(model, batch, rows, kept)

    def values() -> list[list[float]]:
        options = ErasureCurveOptions()
        found = observe(
            model,
            Split(model, toy_data().test, torch.device("cpu")),
            Tests(
                explanations=(Named("attention", Attention()), Named("random", Random(RandomOptions()))),
                metrics=(Named("without", Comprehensiveness(options)), Named("only", Sufficiency(options))),
            ),
            seed=0,
            progress=Progress("off"),
            label="measuring",
        )
        return [m.values[:, 0].tolist() for m in found.measurements]

    monkeypatch.setattr(erasure, "_logits_of_kept", counted)
    together = values()
    assert len(calls) == 1
    rows = calls.pop()
    monkeypatch.setattr(batch_answers, "_delete_together", lambda *_: None)
    np.testing.assert_allclose(values(), together, atol=1e-6)
    assert len(calls) == 4
    assert sum(calls) == rows


def deleting_what_attention_ranks() -> Tests[Named]:
    metric = Named("comprehensiveness", Comprehensiveness(ErasureCurveOptions()))
    return Tests(explanations=(Named("attention", Attention()),), metrics=(metric,))


def test_measuring_more_batches_leaves_no_more_tensors() -> None:
    """Results are put into one tensor each: batches that wait to be joined keep memory from being reused."""
    model, alive = ToyModel(), []
    split = Split(model, toy_data().test * 8, torch.device("cpu"))

    def given() -> Any:
        for rows, batch in batches(split, columns=8):
            gc.collect()
            alive.append(sum(issubclass(type(thing), Tensor) for thing in gc.get_objects()))
            yield rows, batch

    results = measure(
        model,
        given(),
        deleting_what_attention_ranks(),
        split.corpus,
        lambda *_: None,
        seed=0,
        size=len(split),
    )
    assert len(alive) > 5
    assert alive[2] == alive[-1]
    assert sorted(results.rows.tolist()) == list(range(len(split)))


def test_results_are_put_in_order_without_a_second_copy() -> None:
    model = ToyModel()
    split = Split(model, toy_data().test * 2, torch.device("cpu"))
    results = measure(
        model,
        batches(split),
        deleting_what_attention_ranks(),
        split.corpus,
        lambda *_: None,
        seed=0,
        size=len(split),
    )
    assert results.rows.tolist() != list(range(len(split)))
    logits = {int(row): of.tolist() for row, of in zip(results.rows, results.logits, strict=True)}
    values = {int(row): of.tolist() for row, of in zip(results.rows, results.answers[0][0], strict=True)}
    place = results.logits.data_ptr()
    ordered = results.put_in_order()
    assert ordered.logits.data_ptr() == place
    assert ordered.rows.tolist() == list(range(len(split)))
    assert ordered.logits.tolist() == [logits[row] for row in range(len(split))]
    np.testing.assert_array_equal(ordered.answers[0][0], [values[row] for row in range(len(split))])
