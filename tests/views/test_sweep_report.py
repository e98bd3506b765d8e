"""The table, heat maps and page of a sweep, from rows made by hand."""

import re

import pytest
from rich.console import Console

from attnx.request.cell_choices import CellChoices
from attnx.request.spec import Choice
from attnx.results.comparison import ComparedRun, Comparison, Difference
from attnx.results.rendering import page_of
from attnx.results.sweep import SweepReport, SweepRow, UnfinishedCell, Value
from attnx.views.figures.figure import to_svg
from attnx.views.terminal.sweep import print_sweep
from attnx.views.terminal.tables import screen


def row(projection="softmax", tau=0.5, task="easy:train=20,noise=1", explanation="attention", **changes):
    value = Value(mean=tau, low=tau - 0.1, high=tau + 0.1, random=0.0, direction="up")
    choices = CellChoices(
        task=Choice.parse(task),
        model=Choice.parse(changes.pop("model", "m")),
        projection=Choice.parse(projection),
        training=Choice.parse(f"training:{changes.pop('training', '')}").options,
    )
    return SweepRow(
        choices=choices,
        explanation=explanation,
        run=f"{task}{projection}{changes}",
        accuracy=0.75,
        faithfulness="good",
        share=changes.get("share"),
        interpretability=None,
        values={"kendall tau with loo": value},
    )


def sweep(*rows, **fields):
    return SweepReport(rows=rows, **{"refused": (), "failed": (), "seconds": 1.0, "workers": 2, **fields})


def tiles(drawing):
    """The depth and the number of every tile."""
    text = to_svg(drawing)
    return [float(d) for d in re.findall(r"fill: #0072b2; opacity: ([\d.e-]+)", text)], re.findall(
        r">(-?\d\.\d+(?: ≈)?)</text>", text
    )


def test_higher_values_are_drawn_deeper_and_those_of_random_scores_are_marked():
    found = sweep(*(row(f"p{tau}", tau) for tau in (0.05, 0.9, -0.4)))
    accuracy, tau = found.figures()
    assert (accuracy.title, tau.title) == ("accuracy ↑", "kendall tau with loo ↑")
    depths, numbers = tiles(tau)
    assert numbers == ["0.050 ≈", "0.900", "-0.400"]
    middle, highest = depths  # the lowest has no colour at all
    assert middle / highest == pytest.approx(0.45 / 1.3, rel=1e-3)
    assert "≈" in tau.caption


def test_explanations_have_no_part_in_the_map_of_accuracy():
    found = sweep(*(row(p, explanation=e) for p in ("softmax", "hard") for e in ("a", "b", "c")))
    accuracy, tau = found.figures()
    assert len(tiles(tau)[1]) == 6
    assert len(tiles(accuracy)[1]) == 2


def test_the_map_of_shares_leads_and_is_in_percent():
    shares, *others = sweep(row(share=0.25), row("hard", share=-0.5)).figures()
    assert shares.title == "share, from random to best ↑"
    assert re.findall(r">([−\d]+ %)</text>", to_svg(shares)) == ["25 %", "−50 %"]
    assert shares.leading
    assert not any(drawing.leading for drawing in others)


def test_the_page_shows_one_heat_map_and_the_first_rows_and_folds_the_rest():
    page = page_of(sweep(*(row(f"p{at}", share=at / 30) for at in range(15))))
    folded = re.findall('<details class="fold">.*?</details>', page, re.DOTALL)
    opened = re.sub('<details class="fold">.*?</details>', "", page, flags=re.DOTALL)
    assert re.findall('<figure id="([^"]*)"', opened) == ["figure-heat-map-share-from-random-to-best"]
    assert opened.count('data-label="share"') == 12
    assert "3 more" in folded[0]
    assert folded[0].count('data-label="share"') == 3


def test_nothing_is_drawn_of_one_cell_or_of_more_than_can_be_read():
    assert sweep(row()).figures() == []
    crowd = [row(f"p{p}") for p in range(21)] + [row("p0", task=f"t{t}") for t in range(61)]
    assert sweep(*crowd).figures() == []


def test_options_that_all_values_of_an_axis_have_are_said_once(capsys):
    easy, hard = "easy:train=20,noise=1", "hard:train=20,noise=2"
    found = sweep(
        row(task=easy, training="epochs=2"),
        row(task=hard, training="epochs=2,clip=1"),
        row(task="easy:train=20"),
    )
    assert found.shared_options("task") == {"train": "20"}
    assert [found.short(one, "task") for one in found.rows] == ["easy:noise=1", "hard:noise=2", "easy"]
    two = sweep(*found.rows[:2])
    assert [two.short(one, "training") for one in two.rows] == ["as given", "clip=1"]
    print_sweep(two, screen())
    out = capsys.readouterr().out
    assert "every task train=20" in out
    assert "every training epochs=2" in out
    assert "2 cells" in out


def test_a_comma_in_a_value_does_not_divide_it():
    one, two = 'csv:file="a,b=1.csv",label=x', 'csv:file="a,c.csv",label=x'
    found = sweep(row(task=one), row(task=two))
    assert found.shared_options("task") == {"label": "x"}
    assert [found.short(each, "task") for each in found.rows] == [
        'csv:file="a,b=1.csv"',
        'csv:file="a,c.csv"',
    ]
    assert [each["task"] for each in found.records()] == [one, two]
    assert SweepReport.from_json(found.to_json()).rows == found.rows


def test_a_sweep_without_a_result_shares_nothing():
    assert sweep().shared_options("task") == {}


def difference(outcome, direction="up", run="B"):
    return Difference(
        run=run,
        metric="kendall",
        measure="tau",
        explanation="attention",
        reference="loo",
        direction=direction,
        whole_split=False,
        first=0.5,
        other=0.25,
        difference=-0.25,
        low=-0.3,
        high=-0.2,
        p=0.001,
        n=40,
        outcome=outcome,
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([difference("worse")], "hard: worse kendall tau ↑ with loo of attention (-0.250 [-0.300, -0.200])"),
        ([difference("no significant difference")], "hard: nothing is significantly better or worse"),
        (
            [difference("lower", "none")],
            "hard: nothing is significantly better or worse "
            "(1 measure without a better side differs: see the page)",
        ),
        ([difference("better", run="C")], "hard: nothing is significantly better or worse"),
    ],
)
def test_what_differs_from_the_first_cell_is_said(rows, said, capsys, monkeypatch):
    found = sweep(row(), row("hard"), row("sparse"))
    runs = tuple(
        ComparedRun(letter=letter, run=one.run, labels={}, seeds=(0, 1), examples=20, without=())
        for letter, one in zip("ABC", found.rows, strict=True)
    )
    compared = Comparison(runs=runs, seeds=(0, 1), examples=20, rows=tuple(rows), notes=())
    monkeypatch.setattr(SweepReport, "comparisons", lambda _: (compared,))
    print_sweep(found, Console(width=200))
    lines = capsys.readouterr().out.splitlines()
    assert "Compared with softmax (20 shared examples, 2 seeds, p corrected for all tests):" in lines
    assert f"  {said}" in lines


def test_a_model_that_goes_with_its_task_is_not_an_axis():
    each = [row(task=t, model=m) for t, m in (("a", "x"), ("b", "y"))]
    assert sweep(*each).varying == ("task",)
    assert sweep(*each, row(task="a", model="y")).varying == ("task", "model")


def test_the_page_stands_without_the_runs_and_escapes_its_texts():
    found = sweep(row(), row("hard"), failed=(UnfinishedCell(cell="<b>", reason="it <i>broke</i>"),))
    page = page_of(found, links={found.rows[0].run: "../runs/x/report.html"})
    assert "Not compared" in page
    assert "it &lt;i&gt;broke" in page
    assert page.count('href="../runs/x/report.html"') == 1
    assert "1 failed" in page


def test_the_table_has_a_line_for_every_row():
    frame = sweep(row(), row("hard", 0.25)).to_frame()
    assert frame["projection"].tolist() == ["softmax", "hard"]
    assert frame["kendall tau with loo"].tolist() == [0.5, 0.25]
    assert frame["kendall tau with loo, high"].tolist() == [0.6, 0.35]


def test_a_cell_without_a_verdict_names_the_run_that_says_why(capsys):
    silent = row("hard").model_copy(update={"faithfulness": None, "run": "ab12"})
    print_sweep(sweep(row(), silent), screen())
    assert "no verdict on hard: 'attnx runs show ab12' says why" in capsys.readouterr().out
    page = page_of(sweep(row(), silent), links={"ab12": "../runs/ab12/report.html"})
    assert ">no verdict<" in page
    assert page.index("../runs/ab12/report.html") < page.index(">no verdict<")  # its row leads to the reason
    print_sweep(sweep(silent), screen())  # nothing was judged
    assert "no verdict" not in capsys.readouterr().out
