"""Sweeps: the reports of single runs, by whatever workers, stored, and nothing computed twice."""

import json
import re
import subprocess
import sys
import types
from typing import Any

import pytest

import attnx
from attnx.errors import AttnxWarning
from attnx.host.catalog import Catalog
from attnx.plugin import UsageError
from attnx.progress import Progress
from attnx.request.cell_choices import CellChoices
from attnx.request.grid import plan_sweep, read_grid
from attnx.results.sweep import rows_of
from attnx.run.workers.executors import Workers
from attnx.run.workers.main_guard import main_is_unguarded
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


def sweep(asked=None, workers=Workers("in-process")):  # noqa: B008 - it is frozen
    catalog = Catalog.installed()
    plan = plan_sweep(read_grid(asked or GRID, None), catalog)
    with workers.started() as started:
        return carry_out_sweep(plan, catalog, started, progress=Progress("off"))


def without_timings(report):
    found = json.loads(report.without_times().to_json())
    del found["environment"]["threads"]
    return found


def check_page(found):
    """What a sweep stores: comparisons as `attnx compare` has them, and a page with all of it."""
    folder = found.folder
    first, second = dict.fromkeys(row.run for row in found.rows)
    (compared,) = found.comparisons()
    assert compared == attnx.compare(first, second)
    page = (folder / "sweep.html").read_text()
    linked = re.findall(r'href="(\.\.[^"]+)"', page)
    assert {(folder / link).resolve() for link in linked} == {
        home().resolve() / "runs" / run / "report.html" for run in (first, second)
    }
    assert all((folder / link).is_file() for link in linked)
    assert json.loads((folder / "sweep.json").read_text())["rows"][0]["run"] == first
    assert {"heat-map-accuracy.svg", "heat-map-focus-ft.svg"} <= {path.name for path in folder.iterdir()}


def test_methods_that_are_there_for_comparison_alone_have_no_row():
    references = ["gradient", "gradient:reduce=l1"]
    report = attnx.evaluate(
        GRID["task"], metrics=["kendall"], references=references, training={"epochs": 1}, progress=False
    )
    assert any(s.yardstick for s in report.summaries)
    asked = CellChoices(task=report.spec.task, model=report.spec.model)
    assert [row.explanation for row in rows_of(report, asked)] == ["attention"]


def test_cells_have_the_reports_of_single_runs_and_are_computed_once(tmp_path, monkeypatch):
    found = attnx.sweep(**GRID, progress=False)
    assert [(row.projection, row.explanation) for row in found.rows] == [
        ("softmax", "attention"),
        ("softmax", "gradient"),
        ("sparsemax", "attention"),
        ("sparsemax", "gradient"),
    ]
    assert not found.failed
    swept = {row.projection: Runs().find(row.run) for row in found.rows}
    written = {path: path.stat().st_mtime_ns for path in home().rglob("*.safetensors")}
    again = attnx.sweep(**GRID, progress=False)
    assert (again.rows, again.folder) == (found.rows, found.folder)
    assert {path: path.stat().st_mtime_ns for path in home().rglob("*.safetensors")} == written
    assert not list(home().glob(".writing-*"))

    check_page(found)
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


def test_a_sweep_takes_what_an_evaluation_takes(tmp_path):
    asked = {**GRID, "projection": "softmax", "seeds": [0], "metrics": "kendall", "progress": False}
    found = attnx.sweep(**asked, sample=12, keep="all", out=tmp_path / "sweeps")
    assert found.folder.parent == tmp_path / "sweeps"
    folder = Runs().folder(found.rows[0].run)
    report = Runs().find(found.rows[0].run, "all")
    assert report.sample.examples == 12
    written = (folder / "report.json").stat().st_mtime_ns
    attnx.sweep(**asked, sample=12, keep="all", out=tmp_path / "sweeps")
    assert (folder / "report.json").stat().st_mtime_ns == written
    attnx.sweep(**asked, sample=12, keep="all", out=tmp_path / "sweeps", fresh=True)
    assert (folder / "report.json").stat().st_mtime_ns > written
    with pytest.raises(UsageError, match="keep='some' is unknown"):
        attnx.sweep(**asked, keep="some")


def test_the_command_line_stores_what_python_stores(cli):
    found = attnx.sweep(**{**GRID, "seeds": [0]}, progress=False)
    python = (found.folder / "sweep.json").read_text()
    options = ["--task", GRID["task"], "--train", "epochs=2", "--executor", "in-process"]
    for option in ("projection", "explanation", "metric"):
        values = GRID[option] if option in GRID else GRID[f"{option}s"]
        options += [part for value in values for part in (f"--{option}", value)]
    code, out, err = cli("sweep", *options, "--json")
    assert code == 0, err
    assert "2 of 2 cells are stored already" in err
    assert json.loads(out)["rows"] == json.loads(python)["rows"]
    assert json.loads((found.folder / "sweep.json").read_text())["rows"] == json.loads(out)["rows"]


def test_a_cell_that_fails_is_reported_and_does_not_stop_the_others():
    found = sweep(
        {**GRID, "projection": "softmax", "seeds": "0", "training": ["learning_rate=1e30", "epochs=1"]}
    )
    (failed,) = found.failed
    assert "learning_rate=1e30" in failed.cell
    assert "diverged" in failed.reason
    assert {row.training for row in found.rows} == {"epochs=1"}


def test_warnings_of_a_job_reach_the_caller(monkeypatch):
    import warnings

    from attnx.run.workers import jobs

    measure = jobs._measure

    def measure_and_warn(*args):
        warnings.warn("the disk is slow", AttnxWarning, stacklevel=2)
        return measure(*args)

    monkeypatch.setattr(jobs, "_measure", measure_and_warn)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert not sweep({**GRID, "projection": "softmax"}).failed
    assert [str(warning.message) for warning in caught] == ["the disk is slow"]


def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch):
    monkeypatch.setattr("attnx.run.workers.dask_cluster.ANSWER", 0.1)
    with pytest.raises(UsageError, match="No Dask scheduler answers at"):
        sweep(workers=Workers("dask", 1, "tcp://127.0.0.1:9"))


SCRIPT = """
import json, os
import attnx

found = []
for home, settings in (("plain", dict()), ("workers", dict(workers=2))):
    os.environ["ATTNX_HOME"] = home
    found.append(json.loads(attnx.sweep(**{grid}, progress=False, **settings).to_json()))
print(json.dumps(found))
"""


def test_a_script_without_a_guard_sweeps_in_its_own_process_with_the_rows_of_worker_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("{grid}", str(GRID)))
    ended = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stderr.count("No worker processes are started") == 1  # where they were asked for
    plain, asked_for_workers = json.loads(ended.stdout)
    assert (len(plain["rows"]), plain["failed"]) == (4, [])
    by_workers = json.loads(sweep(workers=Workers("local", 1)).to_json())
    assert plain["rows"] == asked_for_workers["rows"] == by_workers["rows"]


@pytest.mark.parametrize(
    ("script", "unguarded"),
    [
        ("found = unguarded()", True),
        ("if __name__ == '__main__':\n    found = unguarded()", False),
        ("if True:\n    if '__main__' == __name__:\n        found = unguarded()", False),
        ("def work():\n    return unguarded()\nfound = work()", True),
        ("def work():\n    return unguarded()\nif __name__ == '__main__':\n    found = work()", False),
        ("if __name__ == 'other':\n    pass\nelse:\n    found = unguarded()", True),
    ],
)
def test_a_script_is_unguarded_if_a_worker_would_come_to_the_same_call(
    script, unguarded, tmp_path, monkeypatch
):
    file = tmp_path / "script.py"
    file.write_text(script)
    main: Any = types.ModuleType("__main__")
    main.__file__, main.unguarded = str(file), main_is_unguarded
    monkeypatch.setitem(sys.modules, "__main__", main)
    exec(compile(script, file, "exec"), vars(main))
    assert main.found == unguarded


def test_without_a_file_there_is_nothing_that_a_worker_would_run_again(monkeypatch):
    main: Any = types.ModuleType("__main__")  # as in a notebook or with python -c
    main.unguarded = main_is_unguarded
    monkeypatch.setitem(sys.modules, "__main__", main)
    exec("found = unguarded()", vars(main))
    assert not main.found
