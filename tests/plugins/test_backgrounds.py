"""Erasure by background units: against a loop that puts every drawn unit in its place by hand."""

import dataclasses

import numpy as np
import pytest
import torch

import attnx
from attnx.formulas import Randomness
from attnx.plugin import Source, UsageError
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.types import Evidence, Importance
from attnx_erasure.backgrounds import _drawn_rows
from attnx_erasure.comprehensiveness import Comprehensiveness
from attnx_erasure.loo import LeaveOneOut
from attnx_erasure.options import ErasureCurveOptions, LeaveOneOutOptions
from attnx_erasure.sufficiency import Sufficiency
from attnx_sdc.digits import Digits
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import DigitsOptions, FcamOptions

DRAWS = 3
RANDOM = Randomness(0)


@pytest.fixture(scope="module")
def model_and_data():
    data = Digits(DigitsOptions(train=20, dev=5, test=6)).load(Source())
    torch.manual_seed(0)

    def softmax(scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(1)

    return Fcam.build(data, softmax, FcamOptions(channels=2, layer=1)).eval(), data


def probabilities(model, example, rows):
    """Of one mosaic made of these rows of the table, encoded alone."""
    batch = model.encode([dataclasses.replace(example, rows=tuple(int(row) for row in rows))])
    with torch.no_grad():
        return model.run(batch, model.embed(batch)).logits.double().softmax(-1)[0].numpy()


def mean_over_draws(model, example, drawn, replaced):
    rows = np.array(example.rows)
    return np.mean([probabilities(model, example, np.where(replaced, of, rows)) for of in drawn], axis=0)


def test_spares_are_background_of_the_test_split_only(model_and_data):
    _, data = model_and_data
    spares = set(data.test[0].spares)
    backgrounds = {r for e in data.test for r, known in zip(e.rows, e.rationale, strict=True) if not known}
    elsewhere = {row for split in (data.train, data.dev) for e in split for row in e.rows}
    foreground = {r for e in data.test for r, known in zip(e.rows, e.rationale, strict=True) if known}
    assert spares.isdisjoint(elsewhere | foreground)
    assert spares & backgrounds
    assert data.train[0].spares is None


def test_every_spare_is_equally_likely_in_any_batch(model_and_data):
    model, data = model_and_data
    batch = model.encode(data.test)
    drawn = _drawn_rows(batch, RANDOM, 4000)
    counts = np.array([(drawn == row).sum().item() for row in set(data.test[0].spares)])
    doubled = len(data.test[0].spares) - len(counts)  # the same image may be drawn twice
    assert counts.sum() == drawn.numel()
    assert doubled or counts.max() / counts.min() < 1.2
    alone = _drawn_rows(model.encode([data.test[2]]), RANDOM, 5)
    assert torch.equal(alone[0], drawn[2, :5])


def test_leave_one_out_is_the_mean_over_drawn_backgrounds(model_and_data):
    model, data = model_and_data
    options = LeaveOneOutOptions(variant="background", draws=DRAWS, normalise=False, signed=False)
    with evaluating(model):
        trace = trace_of(model, model.encode(data.test))
        found = LeaveOneOut(options)(model, trace, trace.predicted, RANDOM)
    drawn = _drawn_rows(trace.batch, RANDOM, DRAWS).numpy()
    for row, example in enumerate(data.test):
        p = probabilities(model, example, example.rows)
        for unit in range(9):
            q = mean_over_draws(model, example, drawn[row], np.arange(9) == unit)
            target = int(trace.predicted[row])
            assert found[row, unit].item() == pytest.approx(abs(p[target] - q[target]), abs=1e-6)


@pytest.mark.parametrize(("metric", "kept"), [(Comprehensiveness, False), (Sufficiency, True)])
def test_curves_replace_the_top_units_or_all_others(metric, kept, model_and_data):
    model, data = model_and_data
    options = ErasureCurveOptions(bins=(10, 50, 100), variant="background", draws=DRAWS)
    scores = torch.rand(len(data.test), 9, generator=torch.Generator().manual_seed(1))
    with evaluating(model):
        trace = trace_of(model, model.encode(data.test))
        explanation = Importance("given", scores, trace.predicted)
        found = metric(options)(Evidence(trace, explanation, None, model, RANDOM))
    drawn = _drawn_rows(trace.batch, RANDOM, DRAWS).numpy()
    for row, example in enumerate(data.test):
        target = int(trace.predicted[row])
        p = probabilities(model, example, example.rows)[target]
        order = scores[row].argsort(descending=True).numpy()
        for place, count in enumerate((1, 5, 9)):
            top = np.isin(np.arange(9), order[:count])
            q = mean_over_draws(model, example, drawn[row], ~top if kept else top)[target]
            assert found.curve[row, place].item() == pytest.approx(p - q, abs=1e-6)


def test_it_is_refused_where_no_background_is_known():
    with pytest.raises(UsageError, match="can replace others \\('backgrounds'\\)"):
        attnx.evaluate("sdc-text", metrics="comprehensiveness:variant=background", progress=False)


def test_a_run_takes_it(home):
    report = attnx.evaluate(
        "sdc-2d:train=30,dev=10,test=8", explanations="loo:variant=background,draws=2",
        metrics="sufficiency:variant=background,draws=2", training={"epochs": 1}, progress=False,
    )  # fmt: skip
    assert report.select("aopc").n == 8
