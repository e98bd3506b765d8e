"""`attnx.explain`: the same explanations as the command line and a loaded run give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import attnx
from attnx.testing import ToyModel

ASKED: dict[str, Any] = {"task": "sdc-text", "limit": 30, "training": {"epochs": 1}, "progress": False}
TEXT = "a radiant man"


@pytest.fixture(scope="module")
def name() -> str:
    return attnx.evaluate(**ASKED, metrics=["kendall"]).fingerprint


def test_a_run_by_name_and_a_loaded_run_explain_alike(name: str) -> None:
    by_name = attnx.explain(name[:12], TEXT)
    run = attnx.load(name)
    assert by_name == attnx.explain(run, TEXT) == run.explain(TEXT)
    assert by_name.units == ("a", "radiant", "man")
    assert {"attention", "gradient", "loo"} <= set(by_name.scores)


def test_a_task_and_a_model_explain_as_the_run_of_the_same_settings_does(name: str) -> None:
    described = attnx.explain(texts=TEXT, **ASKED, methods="attention")
    of_run = attnx.explain(name, TEXT, methods=["attention"])
    assert described.scores == of_run.scores
    assert described.probabilities == of_run.probabilities


def test_the_command_line_gives_the_same(name: str, cli: Any) -> None:
    example = attnx.load(name).data.test[0].id
    code, out, _ = cli("explain", "--run", name, "--example", example, "--method", "loo", "--json")
    assert code == 0
    assert json.loads(out) == json.loads(attnx.explain(name, example=example, methods="loo").to_json())


def test_a_model_of_ones_own_is_explained_on_its_task() -> None:
    found = attnx.explain(ToyModel(), "one two", task="sdc-text", limit=30, progress=False)
    assert found.units == ("one", "two")
    assert found.scores["attention"][0] > found.scores["attention"][1]  # by construction of the toy model


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"texts": TEXT}, "Specify a model"),
        ({"model": Path("x"), "texts": TEXT, "task": "sdc-text"}, "A run already fixes its task"),
        ({"model": "no-such-run", "texts": TEXT}, "no-such-run"),
        ({"task": "sdc-text", "limit": 30}, "text"),
        ({"task": "sdc-text", "limit": 30, "texts": TEXT, "methods": "atention"}, "Did you mean 'attention'"),
    ],
)
def test_a_mistake_is_a_usage_error(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(attnx.UsageError, match=said):
        attnx.explain(**asked)


def test_the_device_of_a_run_can_be_changed(name: str) -> None:
    with pytest.raises(attnx.UsageError, match="nonsense"):
        attnx.explain(name, TEXT, device="nonsense")
