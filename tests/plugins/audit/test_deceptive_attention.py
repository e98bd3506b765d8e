"""Attention trained to avoid the words that decide: the study, and the same model in a plain run."""

from __future__ import annotations

from functools import cache

import pytest

import attnx
from attnx import StudyReport, UsageError

TASK = "planted-pronouns:train=300,dev=60,test=100"
WORD_BY_WORD = "mlp:hidden=12,embedding=16"
READER = "bilstm:hidden=12,embedding=16"
TRAINING = {"epochs": 6, "learning_rate": 0.02}
METRICS = "metrics=comprehensiveness+kendall"


@cache
def studied(model: str) -> StudyReport:
    return attnx.study(
        f"deceptive-attention:penalties=0.1+1,references=loo,{METRICS}",
        TASK,
        model,
        training=TRAINING,
        progress=False,
    )


def mean(model: str, setting: str, measure: str) -> float:
    (found,) = [f for f in studied(model).findings if (f.setting, f.measure) == (setting, measure)]
    assert found.mean is not None
    return found.mean


def test_findings_cover_every_penalty_and_measure() -> None:
    rows = [(finding.setting, finding.measure) for finding in studied(READER).findings]
    measures = [measure for setting, measure in rows if setting == "honest"]
    assert measures[:3] == ["accuracy", "attention on the rationale", "comprehensiveness aopc"]
    assert "kendall tau with loo" in measures
    assert rows == [(s, m) for s in ("honest", "λ = 0.1", "λ = 1") for m in measures]


def test_a_deceived_reader_is_right_with_its_attention_elsewhere() -> None:
    assert mean(READER, "honest", "attention on the rationale") > 0.4
    assert mean(READER, "λ = 1", "attention on the rationale") < 0.01
    assert mean(READER, "λ = 1", "accuracy") >= 0.95 * mean(READER, "honest", "accuracy")


def test_deletion_notices() -> None:
    honest, deceived = (mean(READER, setting, "comprehensiveness aopc") for setting in ("honest", "λ = 1"))
    assert deceived < honest - 0.1


def test_a_model_that_reads_word_by_word_pays_with_accuracy_or_fails_to_hide() -> None:
    assert mean(WORD_BY_WORD, "honest", "accuracy") == 1.0
    hidden = mean(WORD_BY_WORD, "λ = 1", "attention on the rationale") < 0.01
    right = mean(WORD_BY_WORD, "λ = 1", "accuracy") >= 0.95
    assert not (hidden and right)


def test_a_plain_run_has_the_same_deceived_model() -> None:
    report = attnx.evaluate(
        TASK,
        READER,
        metrics=["comprehensiveness"],
        training={**TRAINING, "deception": 1.0},
        progress=False,
    )
    (quality,) = report.quality
    assert quality.accuracy == pytest.approx(mean(READER, "λ = 1", "accuracy"))
    measured = report.select("aopc").mean
    assert measured == pytest.approx(mean(READER, "λ = 1", "comprehensiveness aopc"), abs=1e-9)


@pytest.mark.parametrize(
    ("study", "task", "message"),
    [
        ("deceptive-attention", f"{TASK},labels=permuted", "needs known important units"),
        ("deceptive-attention:metrics=comprehensivness", TASK, "Did you mean 'comprehensiveness'"),
        ("deceptive-attention:penalties=0+1", TASK, "greater than 0"),
        ("deceptive-attention:penalties=1+1", TASK, "given twice"),
    ],
)
def test_what_cannot_be_studied_is_refused_before_training(study: str, task: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        attnx.study(study, task, READER, training=TRAINING, progress=False)
