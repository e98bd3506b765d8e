"""Cases of metrics as YAML: every value is compared, and a wrong case is one clear line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

import attnx
from attnx.host.catalog import Catalog
from attnx.plugin import CheckFailed, DataError, Evidence, Measure, Metric, UsageError
from attnx.request.plan import Part
from attnx.request.spec import Options
from attnx.testing import assert_cases, read_cases


class TopTwo(Metric):
    """Shares of the first and the second unit."""

    family = "shape"
    measures = (Measure("first", "none", (0, 1)), Measure("second", "none", (0, 1)))

    def __call__(self, evidence: Evidence) -> torch.Tensor:
        size = evidence.explanation.values.abs()
        total = size.sum(1, keepdim=True)
        return size.topk(2, dim=1).values / total.masked_fill(total == 0, torch.nan)


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "cases.yaml"
    file.write_text(text)
    return file


def made(_: dict[str, Any]) -> TopTwo:
    return TopTwo()


def installed(name: str) -> Any:
    component = Catalog.installed().find("metric", name)
    options = component.load_options()
    return lambda given: Part("metric", name, (options or Options)(**given), (), (), component).make()


def test_values_by_hand(tmp_path: Path) -> None:
    text = """
- {scores: [3, 1, 0], values: {first: 0.75, second: 0.25}}
- {scores: [0, 0, 0], values: {first: undefined}}
"""
    assert_cases(made, written(tmp_path, text))


def test_every_value_that_differs_is_in_the_message(tmp_path: Path) -> None:
    text = """
- {name: three to one, scores: [3, 1], values: {first: 0.7, second: 0.25}}
- {scores: [1, 1], values: {first: undefined}}
- {scores: [0, 0], values: {second: 0}}
"""
    with pytest.raises(CheckFailed) as failed:
        assert_cases(made, written(tmp_path, text))
    assert str(failed.value) == (
        "case three to one: first is 0.75, not 0.7; case 2: first is 0.5, not undefined; "
        "case 3: second is nan, not 0.0"
    )


def test_a_metric_of_the_model_is_measured_on_the_toy_model(tmp_path: Path) -> None:
    """Without "two", which has z = −1 and classifies by 1, only "one" (1, 0.5) is left: c falls to 0.5."""
    a = 1 / (1 + math.exp(2))  # attention on "two"
    whole = 1 / (1 + math.exp(-2 * (a * 1 + (1 - a) * 0.5)))  # the probability of class 1
    fall = whole - 1 / (1 + math.exp(-2 * 0.5))
    case = f"units: [two, one], scores: [1, 0], options: {{bins: [50]}}, value: {fall}"
    assert_cases(installed("comprehensiveness"), written(tmp_path, f"- {{{case}}}"))


def test_references_and_rationales_are_given_to_the_metric(tmp_path: Path) -> None:
    text = """
- {scores: [3, 2, 1], reference: [30, 20, 10], values: {tau: 1}}
- {scores: [3, 2, 1], reference: [1, 2, 3], values: {tau: -1}}
"""
    assert_cases(installed("kendall"), written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- {scores: [1, 2], values: {first: 1}, unit: [one]}", "Case 1 of .*unit: Extra inputs"),
        ("- {scores: [1, 2], units: [one], value: 1}", "units has 1 entries, scores 2"),
        ("- {scores: [1], units: [seven], value: 1}", "'seven' is not one of one, two"),
        ("- {scores: [1]}", "give either value or values"),
        ("- {scores: [], value: 1}", "scores"),
        ("scores: [1]", "must be a list of cases"),
        ("- {", "Cannot read the cases"),
    ],
)
def test_a_wrong_case_is_one_line(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=reason) as error:
        read_cases(written(tmp_path, text))
    assert "\n" not in str(error.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Cannot read the cases"):
        read_cases(tmp_path / "none.yaml")


def test_a_metric_of_a_whole_split_has_no_cases(tmp_path: Path) -> None:
    class Whole(TopTwo):
        whole_split = True

    with pytest.raises(UsageError, match="Whole measures a whole split"):
        assert_cases(lambda _: Whole(), written(tmp_path, "- {scores: [1], value: 1}"))


def test_attnx_check_runs_the_cases_next_to_a_metric(tmp_path: Path) -> None:
    source = Path(__file__).read_text().partition("class TopTwo")[2].partition("\n\n\ndef written")[0]
    head = "import torch\nfrom attnx.plugin import Evidence, Measure, Metric\n\n\nclass TopTwo"
    (tmp_path / "two.py").write_text(head + source)
    (tmp_path / "two.yaml").write_text("- {scores: [3, 1], values: {first: 0.75}}")
    assert [law.law for law in attnx.check(tmp_path / "two.py").components[0].laws][-1] == "cases"
    assert attnx.check(tmp_path / "two.py").passed
    (tmp_path / "two.yaml").write_text("- {scores: [3, 1], values: {first: 0.5}}")
    (failure,) = attnx.check(tmp_path / "two.py").failures
    assert failure.failure == "case 1: first is 0.75, not 0.5"


def test_a_value_without_the_name_of_its_measure_is_refused(tmp_path: Path) -> None:
    for entry in ("value: 1", "values: {third: 1}"):
        with pytest.raises(CheckFailed, match="case 1: give values of first, second"):
            assert_cases(made, written(tmp_path, f"- {{scores: [1, 2], {entry}}}"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 200_000, "nested more than 50 deep"),
        ("- {scores: [1, 0], value: 1, value: 0}", "the key 'value' occurs twice"),
        ("- &a [1, *a]", "refers to itself"),
    ],
)
def test_cases_are_read_within_the_limits_of_every_yaml_file(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(text)
    with pytest.raises(DataError, match=said):
        read_cases(file)
