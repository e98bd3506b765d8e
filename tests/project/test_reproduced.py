"""docs/reproduced.md is exactly what `python -m reproduced` makes of the stored results."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnx.components import experiments
from attnx.results.report import Curve
from attnx.results.reproduction import ClaimFound, ColumnShown, Compared, Measured, Reproduction
from reproduced.collect import collect
from reproduced.lessons import StaleLesson, lessons
from reproduced.page import anchor, page
from reproduced.results import PAPERS, RESULTS, ROOT, Stored

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
    for path in sorted(RESULTS.glob("*.json")):
        found = Reproduction.from_json(path.read_text(encoding="utf-8"))
        assert path.stem == found.experiment
        assert found.size != "small"
        assert {claim.says for claim in found.claims} <= {claim.says for claim in KNOWN[path.stem].claims}
        assert path.stat().st_size < 300_000


def test_claims_are_counted_by_paper_and_the_weakest_comparison_is_shown(tmp_path: Path) -> None:
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
    assert "third − second = -0.100 [-0.300, 0.100] (1 of 2) | 0.250 | 2 seeds, 12 s |" in made
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
    assert collect(tmp_path, into) == ["wiegreffe-pinter-uniform"]
    kept = Stored.read(KNOWN, into).found["wiegreffe-pinter-uniform"]
    assert (kept.size, kept.curves, len(kept.claims)) == ("standard", (), 1)


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
