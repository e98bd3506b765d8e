"""`attnx explain` as a person types it."""

import io
import json
import re

import pytest

import attnx
from attnx.results.explanation import Explanation, RemovedUnit

ASKED = {
    "task": "sdc-text",
    "limit": 30,
    "training": {"epochs": 1},
    "metrics": ["kendall"],
    "progress": False,
}


@pytest.fixture(scope="module")
def name() -> str:
    return attnx.evaluate(**ASKED).fingerprint


def test_one_text_is_printed_with_its_scores_and_what_leaving_units_out_does(cli, name):
    code, out, err = cli("explain", "--run", name, "a radiant man")
    assert (code, err) == (0, "")
    assert out.startswith("sdc-text, fcam-words, softmax, seed 0\npredicted ")
    for said in ("\nattention\na(0", "\ngradient\n", "\nloo\n", "removed word", "ranked high by", "radiant("):
        assert said in out


def test_text_comes_from_standard_input_and_goes_to_json_and_a_page(cli, name, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", io.StringIO("a radiant man\n"))
    page = tmp_path / "page.html"
    code, out, _ = cli("explain", "--run", name, "--json", "--html", str(page), "--method", "attention")
    assert code == 0
    assert json.loads(out)["units"] == ["a", "radiant", "man"]
    assert page.read_text().startswith("<!doctype html>")


def test_a_model_can_be_named_instead_of_a_run(cli, name):
    asked = ["--task", "sdc-text", "--limit", "30", "--train", "epochs=1"]
    code, out, _ = cli("explain", *asked, "a radiant man", "--json")
    _, of_run, _ = cli("explain", "--run", name, "a radiant man", "--json", "--method", "attention")
    assert code == 0
    assert json.loads(out)["scores"] == json.loads(of_run)["scores"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hello"], "Specify a model"),
        (["--run", "x", "--task", "sdc-text", "hello"], "A run already fixes its task"),
        (["--run", "no-such-run", "hello"], "No run 'no-such-run'"),
    ],
)
def test_mistakes_are_one_line(cli, arguments, said):
    code, out, err = cli("explain", *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert said in err


def test_words_that_the_model_cannot_know_are_said_and_equal_units_told_apart(cli, name, tmp_path):
    page = tmp_path / "page.html"
    asked = ("explain", "--run", name, "qwerty qwerty zxcv")  # as few units as are left out in turn
    _, out, _ = cli(*asked)
    assert cli(*asked, "--html", str(page))[0] == 0
    assert "\nunknown to the model (never in train): qwerty, zxcv\n" in out
    text = re.sub("<[^>]+>", "", page.read_text())
    assert "never occur in the training split: qwerty, zxcv" in text
    for unit in ("qwerty (1st)", "qwerty (2nd)", "zxcv"):
        assert f"\n{unit} " in out.partition("removed word")[2]
        assert unit in text
    assert "unknown" not in cli("explain", "--run", name, "a radiant")[1]


def test_places_are_counted_as_they_are_said():
    units = ("the",) * 113
    said = Explanation(
        title="",
        id="",
        units=units,
        query=None,
        label=None,
        seed=0,
        predicted="yes",
        probabilities={"yes": 1.0},
        scores={},
        left_out=(),
    )
    removed = [
        RemovedUnit(position=at - 1, unit="the", probability=None, change=None, top_of=())
        for at in (1, 2, 3, 4, 11, 22, 112, 113)
    ]
    named = [said.named(one) for one in removed]
    assert [name[5:-1] for name in named] == ["1st", "2nd", "3rd", "4th", "11th", "22nd", "112th", "113th"]
