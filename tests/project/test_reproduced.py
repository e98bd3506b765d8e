"""docs/reproduced.md is exactly what `python -m reproduced` makes of the stored results."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnx.components import experiments
from attnx.results.report import Curve
from attnx.results.reproduction import (
    ClaimFound,
    ColumnShown,
    Compared,
    Measured,
    Reproduction,
    SkippedRows,
)
from reproduced.collect import collect, store
from reproduced.lessons import StaleLesson, lessons
from reproduced.merging import merge, parts_that_test
from reproduced.page import anchor, page
from reproduced.results import PAPERS, RESULTS, ROOT, Stored, parts_in

KNOWN = experiments()


def stored(name: str, *statuses: str) -> Reproduction:
    """A result of an experiment whose claims have these statuses, in the order of the registry."""
    experiment = KNOWN[name]
    claims = tuple(
        ClaimFound(
            says=claim.says, status=status, missing=0,
            compared=(
                Compared(what="first − second", difference=0.5, low=0.4, high=0.6, status=status),
                Compared(what="third − second", difference=-0.1, low=-0.3, high=0.1, status="open",
                         published=0.25),
            ),
        )
        for claim, status in zip(experiment.claims, statuses, strict=True)
    )  # fmt: skip
    row, column = next(iter(experiment.rows)), next(iter(experiment.columns))
    return Reproduction(
        experiment=name, summary=experiment.summary, source=experiment.source, size="standard",
        command=f"attnx reproduce {name}", date="2026-01-31", seeds=(0, 1), data={}, training={},
        columns=(ColumnShown(name=column, digits=2, given=False),), rows=(row,), claims=claims,
        values=(
            Measured(row=row, column=column, mean=1, low=0, high=2, seeds=(1,), cells=1, published=None),
        ),
        left_out=(), ours=(), runs=(), seconds=12.0,
    )  # fmt: skip


def test_the_page_is_what_the_script_makes_of_the_stored_results() -> None:
    assert (ROOT / "docs" / "reproduced.md").read_text(encoding="utf-8") == page(Stored.read(KNOWN))


def test_every_experiment_belongs_to_one_paper() -> None:
    for name in KNOWN:
        assert sum(name.startswith(f"{paper}-") for paper in PAPERS) == 1, name


def test_stored_results_decide_claims_that_the_registry_has_at_a_size_that_may() -> None:
    assert set(parts_in(RESULTS)) == set(RESULTS.glob("*.json"))
    for path in parts_in(RESULTS):
        found = Reproduction.from_json(path.read_text(encoding="utf-8"))
        assert path.name.split(".")[0] == found.experiment
        assert found.size != "small"
        assert {claim.says for claim in found.claims} <= {
            claim.says for claim in KNOWN[found.experiment].claims
        }
        assert path.stat().st_size < 300_000


def test_claims_are_counted_by_paper_and_the_comparison_that_decides_is_shown(tmp_path: Path) -> None:
    for found in (
        stored("serrano-smith-figure-5", "holds", "does not hold"),
        stored("serrano-smith-figure-3", "undertrained"),
        stored("wiegreffe-pinter-uniform", "open"),
    ):
        (tmp_path / f"{found.experiment}.json").write_text(found.to_json(), encoding="utf-8")
    made = page(Stored.read(KNOWN, tmp_path), None)
    smith, pinter = PAPERS["serrano-smith"], PAPERS["wiegreffe-pinter"]
    assert f"| {smith} | 5 | 1 | 1 | 0 | 1 | 2 |" in made
    assert f"| {pinter} | 5 | 0 | 0 | 1 | 0 | 4 |" in made
    assert "third − second = -0.100 [-0.300, 0.100] (0 of 2) | 0.250 | 2 seeds, 12 s |" in made
    refuted = next(line for line in made.splitlines() if "**does not hold**" in line)
    assert "first − second = 0.500 [0.400, 0.600] (0 of 2)" in refuted  # the other one is open
    lines = {line.split(" | ")[1]: line for line in made.splitlines() if line.startswith("| ")}
    untested = "of the additive models, average has the highest correlation of attention with gradients"
    assert lines[f"imdb: {untested}"].endswith("| `attnx reproduce jain-wallace-table-2` |")
    assert lines[f"agnews: {untested}"].endswith("| `attnx reproduce jain-wallace-table-2 --size paper` |")
    assert "`attnx reproduce jain-wallace-table-2`" in made.split("Not run at the standard size yet")[1]


def test_results_of_the_standard_size_are_collected_without_their_curves(tmp_path: Path) -> None:
    line = {"kind": "metric", "name": "x", "metric": "focus", "reference": None, "seed": 0, "axis": "t"}
    curve = Curve(**line, explanation="a", x=(0.0,), y=(1.0,))
    for size in ("standard", "small"):
        found = stored("wiegreffe-pinter-uniform", "holds").model_copy(
            update={"size": size, "curves": (curve,)}
        )
        (tmp_path / f"wiegreffe-pinter-uniform-{size}").mkdir()
        path = tmp_path / f"wiegreffe-pinter-uniform-{size}" / "reproduction.json"
        path.write_text(found.to_json(), encoding="utf-8")
    into = tmp_path / "into"
    into.mkdir()
    assert collect(tmp_path, into) == ["wiegreffe-pinter-uniform.json"]
    kept = Stored.read(KNOWN, into).found["wiegreffe-pinter-uniform"]
    assert (kept.size, kept.curves, len(kept.claims)) == ("standard", (), 1)


def run_of(row: str, difference: float, status: str, seeds: tuple[int, ...] = (0, 1)) -> Reproduction:
    """A run of one row of Serrano and Smith's figure 5, whose first claim has one comparison there."""
    whole = stored("serrano-smith-figure-5", "open", "open")
    other = next(name for name in KNOWN[whole.experiment].rows if name != row)
    compared = Compared(
        what=f"{row}: attention − product", status=status,
        difference=difference, low=difference - 0.1, high=difference + 0.1,
        seeds_needed=7 if status == "open" else None,
    )  # fmt: skip
    first = ClaimFound(says=whole.claims[0].says, status=status, missing=1, compared=(compared,))
    second = ClaimFound(says=whole.claims[1].says, status="open", missing=2, compared=())
    return whole.model_copy(
        update={
            "rows": (row,), "seeds": seeds, "claims": (first, second),
            "command": f"attnx reproduce serrano-smith-figure-5 --row '{row}'",
            "left_out": (SkippedRows(rows=(other,), reason="not asked for"),),
            "values": tuple(
                value.model_copy(update={"row": row, "mean": difference}) for value in whole.values
            ),
        }
    )  # fmt: skip


def test_parts_of_a_table_are_stored_next_to_each_other_and_read_as_one(tmp_path: Path) -> None:
    texts, sentences = "sst bilstm-add", "imdb han-rnn"
    store(run_of(texts, 0.5, "holds"), tmp_path)
    store(run_of(sentences, 0.05, "open", seeds=(0, 1, 2)), tmp_path)
    read = Stored.read(KNOWN, tmp_path)
    found = read.found["serrano-smith-figure-5"]
    assert found.rows == (sentences, texts)  # in the order of the registry
    assert found.left_out == ()
    first, second = found.claims
    assert (first.status, len(first.compared), first.missing) == ("open", 2, 0)
    assert first.reason == "1 of 2 intervals include 0"
    assert not second.compared
    made = page(read, None)
    assert "(1 of 2) |  | 2 or 3 seeds, 24 s | `attnx reproduce serrano-smith-figure-5` |" in made
    for row in (texts, sentences):
        assert f"```sh\nattnx reproduce serrano-smith-figure-5 --row '{row}'\n```" in made
    store(run_of(sentences, 0.7, "holds"), tmp_path)  # again: the other part stays
    read = Stored.read(KNOWN, tmp_path)
    assert [part.rows for part in read.parts["serrano-smith-figure-5"]] == [(texts,), (sentences,)]
    assert read.found["serrano-smith-figure-5"].claims[0].status == "holds"
    assert read.value("serrano-smith-figure-5", sentences, found.columns[0].name).mean == 0.7
    whole = run_of(texts, 0.1, "open").model_copy(update={"rows": (texts, sentences)})
    store(whole, tmp_path)  # a run of all rows replaces both
    assert [path.name for path in parts_in(tmp_path)] == ["serrano-smith-figure-5.json"]


def test_a_row_that_was_run_twice_counts_once_and_the_last_time() -> None:
    experiment = KNOWN["serrano-smith-figure-5"]
    parts = [run_of("sst bilstm-add", 0.5, "holds"), run_of("sst bilstm-add", -0.5, "does not hold")]
    found = merge(parts, experiment)
    assert found.rows == ("sst bilstm-add",)
    assert [value.mean for value in found.values] == [-0.5]
    assert [one.difference for one in found.claims[0].compared] == [-0.5]
    assert (found.claims[0].status, found.claims[0].missing) == ("does not hold", 1)
    assert [left.rows for left in found.left_out] == [("imdb han-rnn",)]
    assert parts_that_test(parts, found.claims[0].says) == [parts[1]]


def test_links_lead_to_sections() -> None:
    made = page(Stored.read(KNOWN))
    titles = {line[3:] for line in made.splitlines() if line.startswith("## ")}
    anchors = {anchor(title) for title in titles}
    for link in {part.partition(")")[0] for part in made.split("](#")[1:]}:
        assert link in anchors


def test_lessons_have_the_measured_numbers_and_no_sentence_outlives_its_result() -> None:
    found = stored("serrano-smith-figure-5", "holds", "does not hold")
    known = Stored({found.experiment: found}, KNOWN)
    says = found.claims[0].says[:20]
    row, column = found.rows[0], found.columns[0].name
    text = "It {{serrano-smith-figure-5: SAYS = holds}}: {{serrano-smith-figure-5 / ROW / COLUMN}}."
    text = text.replace("SAYS", says).replace("ROW", row).replace("COLUMN", column)
    assert lessons(known, text) == "It holds: 1.00 ±1.00."
    with pytest.raises(StaleLesson, match=r"is holds, lessons\.md says inconclusive"):
        lessons(known, text.replace("= holds", "= inconclusive"))
    for missing in ("{{serrano-smith-figure-5 / no such row / x}}", "{{wen-table-2: τ falls = holds}}"):
        with pytest.raises(StaleLesson):
            lessons(known, missing)
