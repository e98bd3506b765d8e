"""Importances are computed once for a model, a method and texts, and a report says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_checkpoints import save

import attnx
from attnx.results import Report
from attnx_erasure.loo import LeaveOneOut

ASKED: dict[str, Any] = {
    "task": "sdc-text:train=60,dev=30,test=40",
    "model": "bilstm:embedding=8,hidden=8",
    "training": {"epochs": 1},
    "progress": False,
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, home: Path) -> list[int]:
    """One entry for every call of leave-one-out; nothing is stored beforehand."""
    assert not home.exists()
    made: list[int] = []
    compute = LeaveOneOut.__call__

    def counted(self: LeaveOneOut, *args: Any) -> Any:
        made.append(len(args[1].batch))
        return compute(self, *args)

    monkeypatch.setattr(LeaveOneOut, "__call__", counted)
    return made


def evaluate(**asked: Any) -> Report:
    return attnx.evaluate(**{**ASKED, "explanations": "loo", **asked})


def cost(report: Report) -> Any:
    return next(cost for cost in report.costs if cost.method == "loo")


def test_another_metric_reads_the_scores_and_the_report_says_so(calls: list[int]) -> None:
    first = evaluate(metrics="entropy")
    assert sum(calls) == 40
    assert (cost(first).reused, first.reused) == (0, "")
    second = evaluate(metrics=["entropy", "nnz"])
    assert sum(calls) == 40
    assert cost(second) == cost(first).model_copy(update={"reused": 40})
    assert "loo (all of 40)" in second.reused
    assert second.select("entropy").mean == pytest.approx(first.select("entropy").mean, rel=1e-12)
    assert "kept from an earlier run" in second.to_html()
    assert "kept from an earlier run" not in first.to_html()


def test_reused_scores_give_the_report_that_computed_ones_give(calls: list[int], tmp_path: Path) -> None:
    metrics = ["comprehensiveness", "sufficiency", "entropy"]
    first, second, fresh = (
        evaluate(metrics=metrics, out=tmp_path / str(place), fresh=place == 2) for place in range(3)
    )
    assert sum(calls) == 80  # the second run read them
    assert (cost(second).reused, cost(fresh).reused) == (40, 0)
    assert first.without_times() == second.without_times() == fresh.without_times()


@pytest.mark.parametrize(
    "other",
    [
        {"explanations": "loo:normalise=false"},
        {"seeds": [1]},
        {"model": "bilstm:embedding=8,hidden=9"},
        {"projection": "sparsemax"},
        {"training": {"epochs": 2}},
        {"limit": "test=39"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_method_model_seed_or_text_is_computed(calls: list[int], other: dict[str, Any]) -> None:
    evaluate(metrics="entropy")
    calls.clear()
    evaluate(metrics="entropy", **other)
    assert sum(calls) in (39, 40)


def test_nothing_is_kept_where_the_user_says_so(calls: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNX_KEEP_GB", "0")
    evaluate(metrics="entropy")
    evaluate(metrics="nnz")
    assert sum(calls) == 80


def test_a_damaged_file_is_computed_again(calls: list[int], home: Path) -> None:
    evaluate(metrics="entropy")
    for file in (home / "kept" / "importances").iterdir():
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.warns(attnx.AttnxWarning, match="computed again"):
        evaluate(metrics="nnz")
    assert sum(calls) == 80


def test_outputs_that_metrics_share_with_a_method_are_kept_with_its_scores(
    calls: list[int], tmp_path: Path
) -> None:
    """Metrics read the outputs without each word; passes of another shape would round them otherwise."""
    asked = {"model": f"hf:checkpoint={save('encoder', tmp_path / 'tiny')},freeze=true"}
    metrics = ["comprehensiveness", "sufficiency"]
    first, second = (evaluate(metrics=metrics, out=tmp_path / str(place), **asked) for place in range(2))
    assert sum(calls) == 40
    assert first.without_times() == second.without_times()
