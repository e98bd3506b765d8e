"""The report on a terminal: readable in 100 columns, nothing cut off."""

import io
import re

import pytest
from rich.console import Console

import attnx
from attnx.results.caution import Caution
from attnx.results.formatting import format_number
from attnx.results.judgement.records import Clause, Verdict
from attnx.results.report import MethodCost
from attnx.views.terminal.report import folded, print_report, print_study
from attnx.views.terminal.tables import print_table

LONG = "gradient:of=logit,reduce=dot-embedding-abs,attention=fixed,normalise=false"
SMALL = {"task": "sdc-text:train=60,dev=30,test=40", "training": {"epochs": 1}, "progress": False}


def shown(report, printer=print_report, width=100):
    written = io.StringIO()
    printer(report, Console(width=width, file=written, highlight=False))
    return written.getvalue()


@pytest.fixture(scope="module")
def report():
    return attnx.evaluate(
        **SMALL,
        explanations=["attention", "integrated-gradients"],
        references=["gradient", LONG],
        metrics=["kendall", "contextualisation"],
    )


def test_no_line_is_wider_than_100_columns_and_no_name_is_cut(report):
    text = shown(report)
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "…" not in text
    assert "integrated-gradients" in text
    start = text.index("gradient:")
    column = text.splitlines()[text[:start].count("\n")].index("gradient:")
    lines = text[start - column :].splitlines()
    folded = "".join(re.split(r" {2,}", line[column:])[0].strip() for line in lines[:5])
    assert folded.startswith(LONG)


def test_every_number_of_the_report_is_shown_whole(report):
    text = shown(report)
    for summary in report.summaries:
        if summary.group == "all" and not summary.yardstick and summary.mean is not None:
            assert format_number(summary.mean) in text
            assert str(summary.interval) in text


def test_rows_stand_below_the_explanation_they_are_of(report):
    lines = [line.strip() for line in shown(report).splitlines()]
    model = "the model, whatever the explanation"
    places = [lines.index(name) for name in ("attention", "integrated-gradients", model)]
    assert places == sorted(places)
    assert sum(line.startswith("kendall tau") for line in lines[places[0] : places[1]]) == 2
    assert sum(line.startswith("kendall tau") for line in lines[places[1] : places[2]]) == 2
    assert lines[places[2] + 1].startswith("contextualisation")
    assert f"To compare these explanations: attnx compare {report.fingerprint[:8]}" in lines


def untested(explanation, why="no words of this task are marked as important"):
    return Verdict(
        heading="interpretability",
        explanation=explanation,
        grade="unknown",
        share=None,
        share_low=None,
        share_high=None,
        clauses=(Clause(kind="not-tested", text=why),),
    )


def test_a_question_that_was_tested_for_no_explanation_is_asked_once(report):
    faithful = [v for v in report.verdicts if v.heading == "faithfulness"]
    both = [v for one in faithful for v in (one, untested(one.explanation))]
    text = " ".join(shown(report.model_copy(update={"verdicts": tuple(both)})).split())
    assert text.count("point at the marked words?") == 1
    said = "Does any of them point at the marked words? Not tested. No words of this task are marked"
    assert text.index(said) > text.index("How faithful is integrated-gradients?")
    alone = [faithful[0], untested("attention"), untested("integrated-gradients", "something else")]
    text = " ".join(shown(report.model_copy(update={"verdicts": tuple(alone)})).split())
    assert "Does attention point at the marked words? Not tested." in text
    assert "Does integrated-gradients point at the marked words? Not tested. Something else." in text


def test_one_explanation_needs_no_heading():
    text = shown(attnx.evaluate(**SMALL, metrics=["nnz"]))
    assert re.search(r"^nnz +\d", text, re.MULTILINE)
    assert "whatever the explanation" not in text
    assert "attnx compare" not in text


def test_cost_is_a_line_for_every_method_that_was_asked_for(report):
    text = shown(report)
    costs = text[text.index("cost of one explanation") :]
    assert re.search(r"^integrated-gradients +50\.0 +\d+\.\d\d$", costs, re.MULTILINE)
    assert not re.search(r"^random ", costs, re.MULTILINE)


def test_a_study_shows_published_values_in_a_column_of_their_own(tmp_path):
    study = attnx.study("uniform-attention", **SMALL, seeds=[0, 1], out=tmp_path)
    text = shown(study, print_study)
    assert "uniform-attention · sdc-text" in text
    assert "60 train, 30 dev, 40 test; 2 seeds" in " ".join(text.split())
    assert "published" not in text
    (path,) = tmp_path.glob("uniform-attention-*/study.json")
    assert path.read_text(encoding="utf-8") == study.to_json()
    assert study.select("gap", "accuracy").n == 80
    with pytest.raises(KeyError, match="it has 'trained attention' 'accuracy'"):
        study.select("gap", "tau")


def test_the_data_is_named_on_the_terminal_and_in_the_page(tmp_path):
    rows = "".join(f"a good film number {i},1\na bad film number {i},0\n" for i in range(40))
    (tmp_path / "mine.csv").write_text("text,label\n" + rows)
    report = attnx.evaluate(
        f"csv:file={tmp_path / 'mine.csv'}", "average-add:embedding=4", metrics=["entropy"], progress=False
    )
    assert "data: local" in shown(report)
    page = report.to_markdown()
    assert "mine.csv sha256" in page
    assert "## By predicted label" in page
    assert re.search(r"\| entropy \| attention \|  \| [01] \|", page)


@pytest.mark.parametrize("width", [60, 80])
def test_narrow_terminals_cut_no_number_and_fold_no_word_to_letters(report, width):
    text = shown(report, width=width)
    lines = text.splitlines()
    assert max(len(line) for line in lines) <= width
    assert not [line for line in lines if len(line.strip()) == 1]
    for summary in report.summaries:
        if summary.group == "all" and not summary.yardstick and summary.mean is not None:
            assert str(summary.interval) in text


def test_a_table_that_does_not_fit_stands_row_by_row():
    written = io.StringIO()
    console = Console(width=40, file=written)
    rows = [["a long name of a measure", "loo", "0.123", "[0.100, 0.200]", "0.001"]]
    print_table(console, ["measure", "reference"], ["mean", "95 % interval", "random"], rows)
    assert written.getvalue().splitlines() == [
        "a long name of a measure · loo",
        "  mean 0.123",
        "  95 % interval [0.100, 0.200]",
        "  random 0.001",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0.000"),
        (0.12345, "0.123"),
        (-0.0123, "-0.012"),
        (0.000135, "0.000135"),
        (-0.00456, "-0.00456"),
        (0.0000123, "1.23e-05"),
        (41.5, "41.500"),
    ],
)
def test_small_numbers_keep_their_digits(value, text):
    assert format_number(value) == text


def test_warnings_of_one_kind_are_one_whatever_their_words():
    warnings = [
        Caution(kind="untrained", about=("0",), text="seed 0 learned nothing"),
        Caution(kind="untrained", about=("1",), text="another sentence about seed 1"),
        Caution(kind="one-seed", text="only one seed"),
        Caution(kind="notice", text="about the data"),
        Caution(kind="notice", text="about the model"),
    ]
    assert folded(warnings) == [
        "seed 0 learned nothing (and 1 more of this kind, in the report)",
        "only one seed",
        "about the data",
        "about the model",
    ]


@pytest.mark.parametrize("view", ["terminal", "page"])
def test_the_cost_is_that_of_the_examples_that_were_explained(report, view):
    """With a sample fewer examples are explained than the test split has."""
    cost = MethodCost(method="gradient", passes=1.0, examples=10, seconds=0.0123)
    assert cost.milliseconds == pytest.approx(1.23)
    sampled = report.model_copy(update={"costs": (cost,)})
    text = shown(sampled) if view == "terminal" else sampled.to_html()
    number = r"gradient +1\.0 +1\.23$" if view == "terminal" else r'data-label="milliseconds">1\.230<'
    assert re.search(number, text, re.MULTILINE)


def test_a_method_that_explained_nothing_has_no_time(report):
    cost = MethodCost(method="gradient", passes=0.0, examples=0, seconds=0.0)
    assert cost.milliseconds is None
    assert re.search(
        r"^gradient +0\.0 +–$", shown(report.model_copy(update={"costs": (cost,)})), re.MULTILINE
    )


def test_a_model_that_is_not_worth_explaining_is_the_one_answer(report):
    useless = Clause(kind="no-verdict", text="the model is at chance")
    verdicts = tuple(
        v.model_copy(update={"clauses": (useless,), "grade": "unknown"}) for v in report.verdicts
    )
    text = shown(report.model_copy(update={"verdicts": verdicts}))
    asked = {v.explanation for v in verdicts}
    assert len(asked) > 1
    assert "How faithful is any of them? No verdict. The model is at chance." in text
    assert text.lower().count("the model is at chance") == 1
    assert "cannot tell" not in text


def test_control_characters_of_labels_do_not_reach_the_terminal(tmp_path):
    name = "red\x1b[31m\r"
    rows = "".join(f"a good film,{name}\n" + "a bad film,no\n" for _ in range(20))
    (tmp_path / "mine.csv").write_text("text,label\n" + rows, newline="")
    report = attnx.evaluate(
        f"csv:file={tmp_path / 'mine.csv'}", "average-add:embedding=4", metrics="entropy", progress=False
    )
    assert "\x1b" not in shown(report) + report.to_markdown()
