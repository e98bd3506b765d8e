"""Several processes at one run, one of them killed; and commands that write files, killed at every change."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kills import deaths

import attnx
from attnx.api.compare import compare
from attnx.disk import HIDDEN, write_file
from attnx.store.runs import Runs, read_report
from attnx.store.saved_reports import saved_reports, write_index
from attnx.views.export import to_text

TASK = "sdc-text:train=60,dev=30,test=40"
PROGRAM = [sys.executable, "-c", "from attnx.cli.app import main; main()"]
EVALUATE = ["evaluate", "--task", TASK, "--metric", "nnz", "--train", "epochs=40", "--seeds", "0-1", "--json"]
SWEEP = [
    *("sweep", "--task", TASK, "--metric", "nnz", "--train", "epochs=20", "--json"),
    *("--projection", "softmax", "--projection", "sparsemax", "--executor", "local", "--workers", "1"),
]


def started(command: list[str], home: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"ATTNX_HOME": str(home), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*PROGRAM, *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[bytes]) -> bytes:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err.decode()
    assert b"Traceback" not in err, err.decode()
    return out


def stored(home: Path) -> dict[str, Any]:
    found = {}
    for folder in (home / "runs").glob("[!.]*"):
        report = read_report(folder)
        assert report is not None, folder
        found[folder.name] = (report.without_times().to_json(), report.examples().measures.tolist())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("command", [EVALUATE, SWEEP], ids=["evaluate", "sweep"])
def test_two_drivers_at_one_time_end_alike_though_a_third_is_killed(
    tmp_path: Path, command: list[str]
) -> None:
    ended(started(command, tmp_path / "alone"))
    alone = stored(tmp_path / "alone")
    assert alone
    chance = random.Random(7)
    for number in range(3):
        home = tmp_path / f"shared {number}"
        drivers = [started(command, home) for _ in range(3)]
        victim = chance.choice(drivers)
        try:
            victim.wait(timeout=chance.uniform(2, 9))
        except subprocess.TimeoutExpired:
            os.killpg(victim.pid, signal.SIGKILL)
        for driver in drivers:
            if driver is not victim:
                ended(driver)
        victim.communicate()
        assert stored(home) == alone
        ended(started(command, home))
        assert stored(home) == alone
        assert not [path for path in home.rglob(f"{HIDDEN}*") if path.parent.name == "runs"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[attnx.Report]]:
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNX_HOME", str(folder))
        asked: dict[str, Any] = {"metrics": "nnz", "training": {"epochs": 1}, "progress": False}
        return folder, [attnx.evaluate(TASK, projection=name, **asked) for name in ("softmax", "sparsemax")]


def files_written(made: tuple[Path, list[attnx.Report]], folder: Path) -> dict[str, Callable[[], Any]]:
    """What commands write for a person, each into one file."""
    home, runs = made
    return {
        "compare.html": lambda: write_file(folder / "compare.html", compare(*runs).to_html()),
        "table.tex": lambda: write_file(folder / "table.tex", to_text(runs[0], "latex")),
        "index.html": lambda: write_index(list(saved_reports(home / "runs")), folder / "index.html"),
    }


@pytest.mark.parametrize("name", ["compare.html", "table.tex", "index.html"])
def test_a_file_for_a_person_is_the_old_or_the_new_one(
    made: tuple[Path, list[attnx.Report]], tmp_path: Path, name: str
) -> None:
    work, file = files_written(made, tmp_path)[name], tmp_path / name
    work()
    whole = file.read_bytes()
    file.write_bytes(b"old")
    number = 0
    for number in deaths(tmp_path, work):
        assert file.read_bytes() in (whole, b"old"), number
        file.write_bytes(b"old")
    work()
    assert file.read_bytes() == whole
    assert not list(tmp_path.rglob(f"{HIDDEN}*"))
    assert number >= 3
    assert all(Runs(made[0] / "runs").find(run.fingerprint) for run in made[1])
