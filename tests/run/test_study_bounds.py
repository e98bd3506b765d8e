"""Findings of a study: intervals stay within the bounds of their measure, and few seeds are reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import attnx
from attnx.plugin import Finding, Lab, PluginError, Study

SMALL: dict[str, Any] = {
    "task": "sdc-2d:train=40,dev=10,test=10",
    "training": {"epochs": 1},
    "progress": False,
}


class Given(Study):
    """A finding that was made before."""

    def __init__(self, *values: list[float], bounds: tuple[float, float] | None = (0, 1)) -> None:
        self.values = np.array(values)
        self.more = {} if bounds is None else {"bounds": bounds}

    def __call__(self, lab: Lab) -> list[Finding]:
        return [Finding("given", "accuracy", "up", self.values, **self.more)]  # type: ignore[arg-type]


def studied(study: Study, seeds: tuple[int, ...] = (0, 1)) -> attnx.StudyReport:
    return attnx.study(study, seeds=seeds, **SMALL)


def test_an_accuracy_has_no_interval_below_0_or_above_1() -> None:
    free, cut = (studied(Given([0.28], [0.37], bounds=b)).findings[0] for b in (None, (0, 1)))
    assert free.low is not None
    assert free.low < 0
    assert (cut.mean, cut.low, cut.high) == (free.mean, 0.0, free.high)


def test_values_outside_the_bounds_that_a_study_declares_are_refused() -> None:
    with pytest.raises(PluginError, match=r"'accuracy' of 'given' has values outside its bounds \[0, 1\]"):
        studied(Given([0.3], [1.35]))


@pytest.mark.parametrize(("seeds", "kinds"), [((0,), ["one-seed"]), ((0, 1), ["two-seeds"]), ((0, 1, 2), [])])
def test_a_study_of_few_seeds_says_so(seeds: tuple[int, ...], kinds: list[str]) -> None:
    report = studied(Given(*([0.1 * seed] for seed in seeds)), seeds)
    assert [warning.kind for warning in report.warnings] == kinds
    if kinds:
        assert "training seed" in report.to_markdown()
        assert "training seed" in report.to_html()


BOUNDED = {
    "uniform-attention": 3,
    "seed-variance": 4,
    "adversarial-model:divergences=1": 9,
    "sparsity-sweep:grid=-1+0+0.5": 14,
}


@pytest.mark.parametrize("study", BOUNDED)
def test_built_in_studies_know_the_bounds_of_all_their_measures(
    study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnx.run import study as module

    seen: list[Finding] = []
    row = module._row
    monkeypatch.setattr(module, "_row", lambda finding: seen.append(finding) or row(finding))
    asked = {**SMALL, "task": "sdc-text:train=40,dev=10,test=12"}
    attnx.study(study, **asked, model="mlp:hidden=4", seeds=(0, 1))
    assert len(seen) >= BOUNDED[study]
    assert [f.measure for f in seen if not np.isfinite(f.bounds).all()] == []
