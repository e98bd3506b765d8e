"""What is trained once, and what is stored where an object takes part."""

import pytest
import torch
from trainers import evaluate_with, never

import attnx
from attnx.plugin import Measure, Metric
from attnx.store.runs import Runs
from attnx.store.weights import Weights

SMALL = {"task": "sdc-error-mode-1:train=40,dev=40,test=60", "training": {"epochs": 2}, "progress": False}


class Own(Metric):
    """A number of the caller's own."""

    family = "shape"
    measures = (Measure("own", "none", (0, 10)),)

    def __init__(self, value=1.0):
        self.value = value

    def __call__(self, evidence):
        return torch.full((len(evidence.trace.batch),), self.value)


def test_another_limit_of_the_test_split_does_not_train_again(tmp_path):
    asked = {**SMALL, "metrics": ["nnz"], "out": tmp_path}
    attnx.evaluate(**asked, limit="test=9")
    assert evaluate_with(never, **asked, limit="test=20").provenance.data["test"] == "20"


def test_a_metric_object_does_not_train_a_cached_model_again(tmp_path):
    known = attnx.evaluate(**SMALL, metrics=["nnz"], out=tmp_path)
    report = evaluate_with(never, **SMALL, metrics=[Own()])
    assert report.provenance.weights_folders == known.provenance.weights_folders
    assert (Weights().root / report.provenance.weights_folders[0]).is_dir()


def test_a_metric_object_that_follows_training_is_followed_whatever_is_kept():
    class Following(Own):
        follows_training = True

    for value in (1.0, 2.0):
        report = attnx.evaluate(**SMALL, metrics=[Following(value)])
        (curve,) = [curve for curve in report.curves if curve.metric == "Following"]
        assert set(curve.y) == {value}
        assert report.provenance.weights_folders == {}


def test_a_run_with_an_object_is_stored_in_a_folder_that_is_given_and_never_taken_for_another(tmp_path):
    report = attnx.evaluate(**SMALL, metrics=[Own()], out=tmp_path)
    assert report.fingerprint.startswith("object-")
    assert Runs(tmp_path).find(report.fingerprint) == report
    assert len(report.examples()) == 60
    other = attnx.evaluate(**SMALL, metrics=[Own(2.0)], out=tmp_path)
    assert other.fingerprint != report.fingerprint


def test_precomputed_scores_that_do_not_fit_are_refused_before_training(tmp_path):
    file = tmp_path / "scores.jsonl"
    file.write_text('{"id": "nobody", "scores": [1]}\n')
    asked = {**SMALL, "seeds": [77], "metrics": ["importance-entropy"]}
    with pytest.raises(attnx.DataError, match="has no scores for example"):
        evaluate_with(never, **asked, explanations=[f"precomputed:file={file}"])
