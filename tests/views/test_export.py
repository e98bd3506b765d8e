"""Tables for a paper: the numbers of the result, in print with minus signs and captions, chosen by name."""

import csv
import io

import pytest
from views.test_every_page import audit, planted, reproduction

from attnx import runs
from attnx.errors import UsageError
from attnx.request.cell_choices import CellChoices
from attnx.request.spec import Choice
from attnx.results.comparison import ComparedRun, ComparedShare, Comparison, Difference
from attnx.results.sweep import SweepReport, SweepRow, Value
from attnx.store.sweeps import find_result


def comparison():
    run = {"labels": {"task": "a_b", "model": "m"}, "seeds": (0,), "examples": 24, "without": ()}
    row = {
        "run": "B", "metric": "kendall", "measure": "tau", "explanation": "attention", "reference": "loo",
        "direction": "up", "whole_split": False, "first": 0.1, "other": -0.2, "difference": -0.3,
        "low": -0.4, "high": -0.2, "p": 0.0001, "n": 24, "outcome": "worse",
    }  # fmt: skip
    share = ComparedShare(run="A", explanation="attention", grade="weak", share=0.2, low=-0.1, high=0.3)
    return Comparison(
        runs=(ComparedRun(letter="A", run="a" * 16, **run), ComparedRun(letter="B", run="b" * 16, **run)),
        seeds=(0,), examples=24, notes=(), shares=(share,),
        rows=(Difference(**row), Difference(**{**row, "metric": "entropy", "measure": "entropy"})),
    )  # fmt: skip


def sweep():
    rows = [
        SweepRow(
            choices=CellChoices(task=Choice(name="t"), model=Choice(name="m"), projection=Choice(name=name)),
            explanation="attention", run=name, accuracy=0.75, faithfulness="good", share=share,
            share_low=-0.1, share_high=0.9, interpretability=None,
            values={"kendall tau": Value(mean=-0.5, low=-0.6, high=0.1, random=0.0)},
        )
        for name, share in (("softmax", 0.4), ("sparsemax", 0.6))
    ]  # fmt: skip
    return SweepReport(rows=tuple(rows), refused=(), failed=(), seconds=1.0, workers=1)


def test_the_ranking_of_a_run_is_a_table_in_every_format(judged_report):
    tex = judged_report.to_table("latex", what="ranking")
    assert "gradient & $-$30\\,\\% & [$-$40\\,\\%, $-$28\\,\\%] & misleading & 3 & no \\\\" in tex
    assert "\\caption{Faithfulness of the explanations of bilstm-add" in tex
    assert "| gradient | −30 % |" in judged_report.to_table("markdown", what="ranking")
    rows = list(csv.DictReader(io.StringIO(judged_report.to_table("csv", what="ranking"))))
    assert [float(row["share"]) for row in rows] == [one.share for one in judged_report.ranking]


def test_metrics_and_explanations_are_chosen_by_name(judged_report):
    text = judged_report.to_table("csv", metrics=["kendall"], explanations=["attention"])
    rows = list(csv.DictReader(io.StringIO(text)))
    kept = [s for s in judged_report.summaries if (s.metric, s.explanation) == ("kendall", "attention")]
    assert [float(row["mean"]) for row in rows if row["mean"]] == [s.mean for s in kept if s.mean is not None]
    with pytest.raises(UsageError, match=r"No metric 'kendal' in this table\. Did you mean 'kendall'"):
        judged_report.to_table(metrics=["kendal"])
    with pytest.raises(UsageError, match="No explanation 'loo'"):
        judged_report.to_table(explanations=["loo"])


def test_differences_and_shares_of_a_comparison_are_tables():
    tex = comparison().to_table("latex", metrics=["kendall"])
    assert "$-0.300$ & [$-0.400$, $-0.200$] & \\textless{} .001 & worse" in tex
    assert "entropy" not in tex
    assert "B $-$ A" in tex
    assert "a\\_b" in tex
    assert "| A | attention | 20 % | \\[−10 %, 30 %\\] | weak |" in comparison().to_table(
        "markdown", what="ranking"
    )


def test_cells_and_values_of_a_sweep_are_tables():
    ranking = list(csv.DictReader(io.StringIO(sweep().to_table("csv"))))
    assert [(row["projection"], row["share"]) for row in ranking] == [
        ("sparsemax", "0.6"),
        ("softmax", "0.4"),
    ]
    tex = sweep().to_table("latex", what="measures", metrics=["kendall tau"])
    assert "softmax & attention & $-0.500$ & [$-0.600$, 0.100] & 0.000" in tex


def test_a_sweep_is_found_by_the_start_of_its_name_or_its_folder(tmp_path):
    sweep().save(tmp_path / "abc1")
    for found in (find_result("abc", tmp_path), find_result(str(tmp_path / "abc1"))):
        assert found is not None
        assert found.to_json() == sweep().to_json()
    assert find_result("x", tmp_path) is None
    assert find_result("*", tmp_path) is None


def test_audits_reproductions_and_planted_triggers_are_tables(tmp_path):
    found = audit().rows[0]
    assert f"& {found.inversions} & {found.comparisons} &" in audit().to_table()
    assert [row["name"] for row in csv.DictReader(io.StringIO(audit().to_table("csv")))] == [found.name]
    with pytest.raises(UsageError, match="No metric 'unheard'"):
        audit().to_table(metrics=["unheard"])
    assert "& accuracy & 0.500 & [0.400, 0.600] & 0.600" in reproduction().to_table()
    assert "| attention | 40 % | \\[30 %, 60 %\\] | 0.500 | 40 % | partial |" in planted().to_table(
        "markdown", what="ranking"
    )
    with pytest.raises(UsageError, match="does not use the planted trigger"):
        planted(used=False).to_table()
    with pytest.raises(UsageError, match="PlantedReport has no table"):
        planted().to_table(metrics=["kendall"])


def test_a_stored_test_with_a_planted_trigger_is_exported_by_its_name(tmp_path):
    planted().save(tmp_path / "abc1")
    assert runs.export("abc", out=tmp_path) == planted().to_table()


def test_a_run_without_a_ranking_says_what_would_rank(full_report):
    with pytest.raises(UsageError, match="Nothing was ranked in this run"):
        full_report.to_table(what="ranking")
