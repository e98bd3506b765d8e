"""What is kept on disk is whole or absent."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

import attnx
from attnx.disk import check_writable, written_aside
from attnx.errors import AttnxWarning, UsageError
from attnx.results.report import Report
from attnx.store.home import home
from attnx.store.runs import Runs
from attnx.store.weights import Weights


@cache
def _computed() -> Report:
    return attnx.evaluate(
        "sdc-2d:train=8,dev=4,test=4", "fcam", metrics=["nnz"], training={"epochs": 1}, progress=False
    )


def report(fingerprint: str = "0123456789abcdef", **changes: Any) -> Report:
    return _computed().model_copy(update={"fingerprint": fingerprint, "seconds": {}} | changes)


def files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


def test_the_home_is_the_folder_of_the_environment(home_given: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home() == home_given
    assert Runs().root == home_given / "runs"
    assert Weights().root == home_given / "weights"
    monkeypatch.delenv("ATTNX_HOME")
    assert home().name == "attnx"


@pytest.fixture
def home_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


# Runs.


def test_a_run_is_found_as_it_was_written(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "deep" / "runs")
    assert runs.find("0123456789abcdef") is None
    assert list(runs) == []
    folder = runs.write(report())
    assert folder == runs.folder("0123456789abcdef")
    assert runs.find("0123456789abcdef") == report()
    assert files(folder) == {"report.html", "report.json", "report.md", "seal.json"}
    assert list(runs) == [report()]


def test_runs_are_listed_newest_first(tmp_path: Path) -> None:
    import os

    runs = Runs(tmp_path)
    for age, name in enumerate("bca"):
        os.utime(runs.write(report(name)) / "report.json", (age, age))
    assert [found.fingerprint for found in runs] == ["a", "c", "b"]


def test_a_run_written_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    runs.write(report(seconds={"data": 1}))
    runs.write(report(seconds={"data": 2}))
    found = runs.find("0123456789abcdef")
    assert found is not None
    assert found.seconds == {"data": 2}
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("existing", [False, True])
def test_a_failure_in_the_middle_of_writing_leaves_what_was_there(
    existing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path)
    if existing:
        runs.write(report(seconds={"data": 1}))
    before = files(tmp_path)

    def fail(self: Report) -> str:
        assert len(files(tmp_path)) > len(before), "nothing was written yet: this is not the middle"
        raise KeyboardInterrupt

    monkeypatch.setattr(Report, "to_markdown", fail)
    with pytest.raises(KeyboardInterrupt):
        runs.write(report(seconds={"data": 2}))
    assert files(tmp_path) == before
    found = runs.find("0123456789abcdef")
    assert found == (report(seconds={"data": 1}) if existing else None)


def test_a_folder_that_can_be_written_is_left_empty(tmp_path: Path) -> None:
    check_writable(tmp_path / "new", "--out")
    assert files(tmp_path) == {"new"}


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=f"Cannot write to '{tmp_path}/file/runs'"):
        check_writable(tmp_path / "file" / "runs", "--out")


def test_writers_at_the_same_time_leave_one_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While they write, a reader finds a whole run, or none before the first."""
    monkeypatch.setattr(Report, "to_html", lambda self, *_: "")  # it takes most of the time
    runs, failures = Runs(tmp_path), []
    start = threading.Barrier(5)

    def at_once(work: Callable[[int], None]) -> threading.Thread:
        def run() -> None:
            start.wait()
            try:
                for turn in range(40):
                    work(turn)
            except Exception as error:
                failures.append(error)

        return threading.Thread(target=run)

    def write(turn: int) -> None:
        runs.write(report(seconds={"data": turn}))

    def read(turn: int) -> None:
        found = runs.find("0123456789abcdef")
        assert found is None or found.fingerprint == "0123456789abcdef"

    threads = [at_once(write) for _ in range(4)] + [at_once(read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert files(tmp_path) == {"0123456789abcdef"} | {
        f"0123456789abcdef/{name}" for name in ("report.html", "report.json", "report.md", "seal.json")
    }


def test_a_run_that_is_being_written_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / ".writing-x").mkdir()
    (tmp_path / ".writing-x" / "report.json").write_text("{}")
    assert list(Runs(tmp_path)) == []


# Places.


def test_what_is_kept_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").mkdir()
    (tmp_path / "usual" / "file").touch()
    Weights(tmp_path).write("key", {"weight": torch.zeros(2)}, {})
    Runs(tmp_path).write(report("run"))
    for folder in (tmp_path / "key", tmp_path / "run"):
        assert folder.stat().st_mode == (tmp_path / "usual").stat().st_mode
        for file in folder.iterdir():
            assert file.stat().st_mode == (tmp_path / "usual" / "file").stat().st_mode


def test_a_file_in_the_place_of_a_folder_is_told_and_kept(tmp_path: Path) -> None:
    place = tmp_path / "0123456789abcdef"
    place.write_text("mine")
    calls: list[Callable[[], Any]] = [
        lambda: Runs(tmp_path).find(place.name),
        lambda: Runs(tmp_path).write(report()),
        lambda: Weights(tmp_path).find(place.name),
        lambda: Weights(tmp_path).write(place.name, {"weight": torch.zeros(2)}, {}),
    ]
    for call in calls:
        with pytest.raises(UsageError, match=f"'{place}' is a file, but a folder must be written there"):
            call()
    assert files(tmp_path) == {place.name}
    assert place.read_text() == "mine"


def test_what_a_killed_writer_left_is_deleted_by_the_next_one(tmp_path: Path) -> None:
    for name in (".writing-left", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("")
    Runs(tmp_path).write(report())
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "0123456789abcdef"}


def test_a_writer_that_lives_keeps_its_folder_however_old(tmp_path: Path) -> None:
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert held.stdin is not None
    assert held.stdout is not None
    folder = Path(held.stdout.readline().strip())
    os.utime(folder, (0, 0))
    with written_aside(tmp_path / "one") as first, written_aside(tmp_path / "two") as second:
        os.utime(first.parent, (0, 0))
        Runs(tmp_path).write(report())
        assert all(path.is_dir() for path in (folder, first, second))
    held.kill()
    held.communicate()
    Runs(tmp_path).write(report())
    assert {path.name for path in tmp_path.iterdir()} == {"one", "two", "0123456789abcdef"}


HOLD = """
import sys
from pathlib import Path
from attnx.disk import hidden_folder

with hidden_folder(Path(sys.argv[1])) as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_where_the_system_knows_no_locks_a_folder_is_kept_for_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EBADF, "")

    monkeypatch.setattr("fcntl.flock", refuse)
    for name, age in {".writing-old": 25 * 3600, ".writing-new": 60}.items():
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    Runs(tmp_path).write(report())
    assert {path.name for path in tmp_path.iterdir()} == {".writing-new", "0123456789abcdef"}


def test_where_two_folders_cannot_change_places_the_old_one_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnx.disk.exchange", lambda one, other: False)
    runs = Runs(tmp_path)
    for seconds in (1, 2):
        runs.write(report(seconds={"data": seconds}))
    assert [found.seconds for found in runs] == [{"data": 2}]
    assert files(tmp_path) >= {"0123456789abcdef"}
    assert not list(tmp_path.glob(".writing-*"))


def test_a_run_that_cannot_be_read_is_a_warning_and_the_others_are_listed(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    for name in "ab":
        runs.write(report(name))
    (tmp_path / "a" / "report.json").write_text("{}")
    with pytest.warns(AttnxWarning, match=f"'{tmp_path}/a/report.json' is damaged.*; the run is left out"):
        assert [found.fingerprint for found in runs] == ["b"]
