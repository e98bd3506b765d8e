"""Requirements on a report: met, missed, and mistyped."""

from __future__ import annotations

import pytest

import attnx
from attnx.errors import CheckFailed, UsageError
from attnx.results import Report
from attnx.results.requirements import Requirement


@pytest.fixture(scope="module")
def report() -> Report:
    return attnx.evaluate(
        "planted-rules:train=100,dev=10,test=60",
        "rule-reader",
        explanations=["oracle", "anti-oracle"],
        metrics="faithfulness",
        progress=False,
    )


@pytest.mark.parametrize("text", ["oracle/faithfulness>=0.5", "oracle/faithfulness >= strong"])
def test_a_requirement_that_is_met_says_nothing(report: Report, text: str) -> None:
    report.require(text)
    assert Requirement.parse(text).unmet(report) is None


def test_a_requirement_that_is_not_met_says_what_was_found(report: Report) -> None:
    with pytest.raises(CheckFailed, match=r"faithfulness>=0.5 is not met: anti-oracle has −\d+ %"):
        report.require("faithfulness>=0.5")


def test_a_grade_is_a_lower_bound(report: Report) -> None:
    report.require("anti-oracle/faithfulness>=misleading")
    with pytest.raises(CheckFailed, match="anti-oracle"):
        report.require("anti-oracle/faithfulness>=random")


def test_an_explanation_that_the_run_is_not_about_is_not_met(report: Report) -> None:
    with pytest.raises(CheckFailed, match="the run is about oracle, anti-oracle"):
        report.require("gradient/faithfulness>=0.1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("faithfulness>0.5", "write e.g."),
        ("faithfulnes>=0.5", "Did you mean 'faithfulness'"),
        ("faithfulness>=fine", "neither a number nor a grade"),
        ("", "write e.g."),
    ],
)
def test_a_mistyped_requirement_is_refused_with_the_form(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        Requirement.parse(text)
