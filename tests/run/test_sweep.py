"""Sweeps: the reports of single runs, by whatever workers, and nothing done twice."""

import json
import re

import pytest

import attnx
from attnx.host.catalog import Catalog
from attnx.plugin import UsageError
from attnx.request.grid import read_grid, sort_out
from attnx.results.sweep import rows_of
from attnx.run.workers.executors import Workers
from attnx.run.workers.sweep import carry_out_sweep
from attnx.store.home import home
from attnx.store.runs import Runs

GRID = {
    "task": "sdc-2d:train=40,dev=20,test=30",
    "projection": ["softmax", "sparsemax"],
    "explanations": ["attention", "gradient"],
    "metrics": ["focus", "nnz"],
    "training": "epochs=2",
    "seeds": "0-1",
}


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))


def sweep(asked=None, workers=Workers("local", 2)):  # noqa: B008 - it is frozen
    catalog = Catalog.installed()
    cells, refused = sort_out(read_grid(asked or GRID, None), catalog)
    from attnx.progress import Progress

    return carry_out_sweep(cells, refused, catalog, workers, progress=Progress("off"))


def without_timings(report):
    found = json.loads(report.without_times().to_json())
    del found["environment"]["threads"]
    return found


def check_page(found, folder):
    """What a sweep shows at the end: comparisons as `attnx compare` has them, and a page with all of it."""
    first, second = dict.fromkeys(row.run for row in found.rows)
    (compared,) = found.comparisons()
    assert compared == attnx.compare(first, second)
    page = (found.save(folder) / "sweep.html").read_text()
    linked = re.findall(r'href="(\.\.[^"]+)"', page)
    assert {(folder / link).resolve() for link in linked} == {
        home().resolve() / "runs" / run / "report.html" for run in (first, second)
    }
    assert all((folder / link).is_file() for link in linked)
    assert f"Run {second} beside {first}." in page
    assert json.loads((folder / "sweep.json").read_text())["rows"][0]["run"] == first
    assert {"heat-map-accuracy.svg", "heat-map-nnz.svg"} <= {path.name for path in folder.iterdir()}


def test_methods_that_are_there_for_comparison_alone_have_no_row():
    references = ["gradient", "gradient:reduce=l1"]
    report = attnx.evaluate(
        GRID["task"], metrics=["kendall"], references=references, training={"epochs": 1}, progress=False
    )
    assert any(s.yardstick for s in report.summaries)
    assert [row.explanation for row in rows_of(report, "")] == ["attention"]


def test_cells_have_the_reports_of_single_runs_and_are_computed_once(tmp_path, monkeypatch):
    found = sweep()
    assert [(row.projection, row.explanation) for row in found.rows] == [
        ("softmax", "attention"),
        ("softmax", "gradient"),
        ("sparsemax", "attention"),
        ("sparsemax", "gradient"),
    ]
    assert not found.failed
    swept = {row.projection: Runs().find(row.run) for row in found.rows}
    written = {path: path.stat().st_mtime_ns for path in home().rglob("*.safetensors")}
    again = sweep()
    assert again.rows == found.rows
    assert {path: path.stat().st_mtime_ns for path in home().rglob("*.safetensors")} == written
    assert not list(home().glob(".writing-*"))

    check_page(found, tmp_path / "page")
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "elsewhere"))
    for projection, report in swept.items():
        alone = attnx.evaluate(
            GRID["task"],
            projection=projection,
            explanations=GRID["explanations"],
            metrics=GRID["metrics"],
            training={"epochs": "2"},
            seeds=[0, 1],
            progress=False,
        )
        assert without_timings(alone) == without_timings(report)


def test_a_cell_that_fails_is_told_and_does_not_stop_the_others():
    found = sweep(
        {**GRID, "projection": "softmax", "seeds": "0", "training": ["learning_rate=1e30", "epochs=1"]}
    )
    (failed,) = found.failed
    assert "learning_rate=1e30" in failed.cell
    assert "diverged" in failed.reason
    assert {row.training for row in found.rows} == {"epochs=1"}


def test_a_scheduler_that_does_not_answer_is_one_line():
    with pytest.raises(UsageError, match="No Dask scheduler answers at"):
        sweep(workers=Workers("dask", 1, "tcp://127.0.0.1:9"))
