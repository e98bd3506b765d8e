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
    assert "never occur in the training split: “qwerty”, “zxcv”" in text
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


def test_several_texts_a_class_and_metrics_are_the_same_as_in_python(cli, name):
    texts, methods = ["a radiant man", "so gloomy"], ["attention", "loo"]
    classes = list(attnx.load(name).data.label_names)
    asked = [
        "--method",
        "attention",
        "--method",
        "loo",
        "--metric",
        "comprehensiveness",
        "--target",
        classes[1],
    ]
    code, out, err = cli("explain", "--run", name, *texts, *asked, "--json")
    assert (code, err) == (0, "")
    found = attnx.explain(name, texts, methods, metrics="comprehensiveness", target=classes[1])
    assert json.loads(out) == json.loads(found.to_json())
    _, shown, _ = cli("explain", "--run", name, *texts, *asked)
    assert shown == found.to_text()
    assert "text 2 of 2" in shown
    assert re.search(r"comprehensiveness aopc ↑ +loo +-?[\d.]+ +-?[\d.]+\n", shown)


def test_a_class_that_is_not_predicted_is_named_and_attention_has_none(cli, name):
    run = attnx.load(name)
    (predicted,) = run.predict("a radiant man")
    (other,) = set(run.data.label_names) - {predicted.label}
    _, out, _ = cli("explain", "--run", name, "a radiant man", "--target", other, "--method", "attention")
    assert f"\nscores for p({other})\n" in out
    assert "\nattention (the same for every class)\n" in out
    assert f"removed word  p({other})" in out.replace("   ", "  ")
    _, plain, _ = cli("explain", "--run", name, "a radiant man", "--method", "attention")
    assert "scores for" not in plain
    assert "every class" not in plain


def test_a_contrast_is_explained_and_attention_is_said_to_have_no_class(cli, name):
    first, second = attnx.load(name).data.label_names
    asked = ("explain", "--run", name, "a radiant man", "--target", first, "--versus", second, "--method")
    code, out, _ = cli(*asked, "input-x-gradient")
    assert code == 0
    assert f"scores for p({first}) − p({second})" in out
    code, out, _ = cli(*asked, "attention")
    assert code == 0
    assert "attention (the same for every class)" in out


def test_several_texts_are_on_one_page(cli, name, tmp_path):
    page = tmp_path / "page.html"
    asked = ["--metric", "sufficiency", "--method", "loo", "--target", "all", "--html", str(page)]
    assert cli("explain", "--run", name, "a <b> man", "so gloomy", *asked)[0] == 0
    html = page.read_text()
    assert html.startswith("<!doctype html>")
    assert html.count("<h2>Text ") == 2
    assert "a radiant" not in html
    assert "&lt;" in html
    text = re.sub("<[^>]+>", "", html)
    for said in (
        "2 texts explained",
        "Metrics of these scores",
        "mean over 10 sets of random scores",
        "Scores for p(",
    ):
        assert said in text


def test_examples_can_be_several(cli, name):
    ids = [one.id for one in attnx.load(name).data.test[:2]]
    code, out, _ = cli("explain", "--run", name, "--example", ids[0], "--example", ids[1], "--json")
    assert code == 0
    assert [one["id"] for one in json.loads(out)["explanations"]] == ids
