"""What is kept of examples while they are measured, against the same computed one by one."""

import json

import numpy as np
import pytest
import torch

import attnx
from attnx.plugin import Batch, Example, Importance, UsageError
from attnx.run.measuring.attribution import trace_of
from attnx.run.measuring.score_keeper import ScoreKeeper, by_unit, probabilities_without
from attnx.store.runs import Runs
from attnx.testing import ToyModel, toy_data

SMALL = {
    "task": "sdc-text",
    "limit": 20,
    "training": {"epochs": 1},
    "metrics": ["kendall"],
    "progress": False,
}


def toy_trace():
    model = ToyModel().eval()
    with torch.no_grad():
        return model, trace_of(model, model.encode(toy_data().test))


def test_scores_of_several_columns_are_summed_and_units_that_are_not_seen_get_nothing():
    batch = Batch.collate(
        [Example("a", ("x", "y", "cut off"), 0), Example("b", ("z",), 1)],
        inputs=torch.zeros(2, 4, dtype=torch.long),
        mask=torch.tensor([[False, True, True, True], [False, True, False, False]]),
        unit_index=torch.tensor([[-1, 0, 0, 1], [-1, 0, -1, -1]]),
        lengths=torch.tensor([4, 2]),
    )
    values = torch.tensor([[9.0, 0.25, 0.5, -1.0], [9.0, 2.0, 9.0, 9.0]])
    assert by_unit(values, batch).tolist() == [[0.75, -1.0, 0.0], [2.0, 0.0, 0.0]]


def test_probability_without_a_unit_is_that_of_the_shorter_example():
    model, trace = toy_trace()
    examples, target = trace.batch.examples, trace.predicted
    units = torch.tensor([[0, len(example.units) - 1, 0] for example in examples])
    with torch.no_grad():
        found = probabilities_without(model, trace, units)
        for row, example in enumerate(examples):
            for number, gone in enumerate(units[row].tolist()):
                left = tuple(unit for i, unit in enumerate(example.units) if i != gone)
                shorter = model.encode([Example("shorter", left, 0)])
                expected = trace_of(model, shorter).probabilities[0, target[row]]
                assert found[row, number].item() == pytest.approx(expected.item(), abs=1e-6)


def test_an_only_unit_cannot_be_deleted():
    model = ToyModel().eval()
    with torch.no_grad():
        trace = trace_of(model, model.encode([Example("a", ("one",), 0)]))
        assert probabilities_without(model, trace, torch.zeros(1, 1, dtype=torch.long)).isnan().all()


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_half_precision_holds_whatever_the_scale(scale):
    model, trace = toy_trace()
    draws = torch.randn(trace.attention.shape, generator=torch.Generator().manual_seed(0))
    values = (scale * draws.double()).masked_fill(~trace.batch.mask, 0.0)
    keeper = ScoreKeeper(("signed",), deletes=False)
    keeper.add(model, trace, {"signed": Importance("signed", values, trace.predicted)})
    kept = keeper.collected()
    starts = np.cumsum(kept.lengths) - kept.lengths
    for row, (start, length) in enumerate(zip(starts, kept.lengths, strict=True)):
        back = kept.shares["signed"][start : start + length].astype(float) * kept.largest["signed"][row]
        assert back == pytest.approx(values[row, :length].numpy(), abs=5e-4 * kept.largest["signed"][row])


def test_examples_agree_with_the_report_and_are_the_same_when_they_are_read_back(tmp_path):
    report = attnx.evaluate(**SMALL, seeds=[0, 1], out=tmp_path)
    examples = report.examples()
    assert examples.to_records() == Runs(tmp_path).find(report.fingerprint).examples().to_records()
    assert examples.columns[0].title == "kendall tau of attention against gradient"
    for summary in report.summaries:
        if summary.group == "all" and not summary.yardstick:
            values = [
                value
                for example in examples
                for seen in example.seen
                for column, value in seen.measures.items()
                if (column.metric, column.measure, column.explanation, column.reference)
                == (summary.metric, summary.measure, summary.explanation, summary.reference)
                and value is not None
            ]
            assert len(values) == summary.n
            assert np.mean(values) == pytest.approx(summary.mean, abs=1e-12)
    for quality in report.quality:
        right = [seen.correct for e in examples for seen in e.seen if seen.seed == quality.seed]
        assert np.mean(right) == quality.accuracy
    for example in examples:
        for seen in example.seen:
            assert sum(seen.probabilities) == pytest.approx(1)
            assert sum(seen.scores["attention"]) == pytest.approx(1, abs=1e-2)
            assert {len(scores) for scores in seen.scores.values()} == {len(example.units)}
    json.dumps(examples.to_records(), allow_nan=False)


def test_attention_is_kept_beside_another_explanation(tmp_path):
    report = attnx.evaluate(
        **{**SMALL, "metrics": ["comprehensiveness"]}, explanations=["gradient"], out=tmp_path
    )
    assert report.examples().methods == ("attention", "gradient")


def test_a_report_of_objects_has_examples_though_it_is_not_stored(home):
    report = attnx.evaluate("sdc-text", model=ToyReader(), limit=5, metrics=["nnz"], progress=False)
    assert len(report.examples()) == 5


class ToyReader(ToyModel):
    """The toy model, reading any words."""

    def encode(self, examples):
        known = [
            Example(e.id, tuple("one" if i % 2 else "two" for i in range(len(e.units))), e.label)
            for e in examples
        ]
        return super().encode(known)


@pytest.mark.parametrize(("keep", "scores"), [("none", None), ("values", 0), ("all", 3)])
def test_what_is_not_asked_for_is_not_kept(keep, scores, tmp_path):
    report = attnx.evaluate(**SMALL, keep=keep, out=tmp_path)
    if scores is None:
        with pytest.raises(attnx.DataError, match="has no stored examples"):
            report.examples()
        return
    examples = report.examples()
    assert (len(examples.methods), bool(examples[0].units)) == (scores, scores > 0)
    assert examples[0].seen[0].measures


def test_a_stored_run_that_keeps_less_than_is_asked_is_computed_again(tmp_path, monkeypatch):
    attnx.evaluate(**SMALL, keep="values", out=tmp_path)
    assert attnx.evaluate(**SMALL, keep="all", out=tmp_path).examples().methods
    monkeypatch.setattr("attnx.run.evaluation.compute_report", lambda *_: pytest.fail("computed again"))
    attnx.evaluate(**SMALL, keep="none", out=tmp_path)


def test_an_unknown_level_is_refused_in_words():
    with pytest.raises(UsageError, match="keep='most' is unknown: choose one of none, values, all"):
        attnx.evaluate(keep="most")


def test_an_unknown_example_is_told_the_nearest():
    report = attnx.evaluate(**SMALL)
    known = report.examples()[3].id
    assert report.examples().find(known).id == known
    with pytest.raises(UsageError, match="No example 'nothing' in this run"):
        report.examples().find("nothing")
