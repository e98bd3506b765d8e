"""Results are never lost if they cannot be stored."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from faults import failing_disk

import attnx
from attnx import AttnxError, Report
from attnx.results.judgement.verdict import judge

SMALL: dict[str, Any] = {
    "task": "sdc-error-mode-1:train=20,dev=20,test=20",
    "training": {"epochs": 1},
    "metrics": "nnz",
    "progress": False,
}
COMMAND = ["evaluate", "--task", SMALL["task"], "--train", "epochs=1", "--metric", "nnz"]


def found(report: Report) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(report.without_times().to_json())
    return fields


@pytest.mark.parametrize(
    ("code", "lasting", "step"),
    [
        (errno.ENOSPC, True, 3),
        pytest.param(errno.ENOSPC, True, 1, marks=pytest.mark.slow),
        pytest.param(errno.EACCES, False, 1, marks=pytest.mark.slow),
    ],
)
def test_a_fault_at_any_change_of_the_store_loses_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, code: int, lasting: bool, step: int
) -> None:
    with failing_disk(home.parent) as disk:
        whole = found(attnx.evaluate(**SMALL))
    assert disk.changes > 10
    refused: list[str] = []
    for number in range(1, disk.changes + 1, step):
        place = home.parent / f"home-{number}"
        monkeypatch.setenv("ATTNX_HOME", str(place))
        with (
            failing_disk(place, number, code, lasting=lasting),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            try:
                assert found(attnx.evaluate(**SMALL)) == whole  # with the disk's fault
            except AttnxError as error:
                refused.append(str(error))
                assert not list(place.glob("weights/*"))  # before anything was computed
        messages = [str(warning.message) for warning in caught]
        if messages and "The weights could not be saved" not in messages[0]:
            page = bool(list(place.glob("runs/*/report.json"))) and not list(place.glob("runs/*/report.html"))
            what = "The page of the report" if page else "The report is finished, but"
            assert messages[0].startswith(f"{what} could not be stored in")
        assert found(attnx.evaluate(**SMALL)) == whole  # with the disk as it should be
        assert len(list(place.glob("runs/*/report.json"))) == 1
    assert all(os.strerror(code) in text for text in refused)


def test_a_report_that_cannot_be_stored_is_printed(cli: Any, home: Path) -> None:
    for extra in ([], ["--json"]):
        with failing_disk(home / "runs", 4):
            code, out, err = cli(*COMMAND, "--fresh", *extra)
        assert code == 5
        assert "nnz" in out
        assert err.splitlines()[-1].endswith("No space left on device.")
        assert "finished, but could not be stored" in err
        assert "Traceback" not in err


def test_a_study_that_cannot_be_stored_is_printed(cli: Any, home: Path) -> None:
    asked = ["study", "uniform-attention", *COMMAND[1:3], "--train", "epochs=1"]
    for _ in range(2):  # what is there already is replaced, which takes other steps
        with failing_disk(home / "studies") as disk:
            assert cli(*asked)[0] == 0
    with failing_disk(home / "studies", disk.changes):
        code, out, err = cli(*asked)
    assert code == 5
    assert "uniform" in out
    assert "could not be stored" in err


@pytest.mark.parametrize(
    "fault", [UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "half"), MemoryError(), TypeError("odd")]
)
@pytest.mark.parametrize(
    "where", ["attnx.store.runs.write_examples", "attnx.store.runs.seal", "attnx.store.runs.write_page"]
)
def test_whatever_fails_while_it_is_stored_the_report_is_printed(
    cli: Any, home: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception, where: str
) -> None:
    def fail(*args: Any) -> None:
        raise fault

    monkeypatch.setattr(where, fail)
    code, out, err = cli(*COMMAND)
    assert code == 5
    assert "nnz" in out
    assert err.splitlines()[-1].startswith("error: The ")
    assert f"could not be stored in '{home / 'runs'}': {type(fault).__name__}" in err
    assert len(list(home.glob("runs/*"))) == (where == "attnx.store.runs.write_page")


def test_whatever_fails_while_a_study_or_a_sweep_is_stored_it_is_printed(
    cli: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise ValueError("odd")

    monkeypatch.setattr("attnx.run.study.write_study", fail)
    monkeypatch.setattr("attnx.store.sweeps.write_sweep", fail)
    asked = [*COMMAND[1:3], "--train", "epochs=1"]
    for command in (["study", "uniform-attention"], ["sweep", "--metric", "nnz", "--executor", "in-process"]):
        code, out, err = cli(*command, *asked)
        assert (code, bool(out)) == (5, True)
        assert "could not be stored in" in err
        assert "ValueError: odd" in err


def test_weights_that_cannot_be_written_are_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> bytes:
        raise TypeError("an odd tensor")

    monkeypatch.setattr("attnx.store.weights._whole", fail)
    with pytest.warns(attnx.AttnxWarning, match="could not be saved in .*: TypeError: an odd tensor"):
        assert attnx.evaluate(**SMALL).summaries


@contextmanager
def disk_of(size: str, folder: Path) -> Iterator[Path]:
    """A real disk of its own."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"mounting a disk takes rights that are not given here: {mounted.stderr!r}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_disk_of_16_kilobytes_is_refused_before_anything_is_computed(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with disk_of("16k", tmp_path / "disk") as disk:
        monkeypatch.setenv("ATTNX_HOME", str(disk))
        code, out, err = cli(*COMMAND)
        assert not [path for path in disk.rglob("*") if path.is_file()]
    assert (code, out) == (5, "")
    (line,) = err.splitlines()
    assert line.startswith(f"error: Not enough space in '{disk}/runs': the report needs about 10")
    assert "Free some space, or choose another folder with --out." in line


def test_a_disk_that_fills_up_meanwhile_shows_the_report(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with disk_of("2m", tmp_path / "disk") as disk:

        def fill(*args: Any, **kwargs: Any) -> Any:
            with open(disk / "somebody's", "wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(512))
            return judge(*args, **kwargs)

        monkeypatch.setattr("attnx.run.computation.judge", fill)
        monkeypatch.setenv("ATTNX_HOME", str(disk))
        code, out, err = cli(*COMMAND)
    assert code == 5
    assert "nnz" in out
    assert err.splitlines()[-1].startswith("error: The report is finished, but could not be stored")
    assert "Traceback" not in err


def free(count: int) -> Any:
    return lambda path: shutil._ntuple_diskusage(10**12, 10**12 - count, count)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("asked", "bytes_free", "said"),
    [
        (COMMAND, 50_000, "the report needs about 10[0-9] kB, 50 kB are free"),
        ([*COMMAND, "--seeds", "0-2"], 50_000, "the report needs about"),
        (["study", "uniform-attention", *COMMAND[1:5]], 50_000, "the report needs about 100 kB"),
        (
            ["evaluate", "--task", "planted-pronouns", "--limit", "20", "--seeds", "0-2"],
            1_000_000,
            r"weights': 3 models in training needs about 2[0-9](\.[0-9])? MB, 1 MB are free",
        ),
    ],
)
def test_room_is_checked_before_the_work(
    cli: Any, home: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str], bytes_free: int, said: str
) -> None:
    monkeypatch.setattr("shutil.disk_usage", free(bytes_free))
    code, out, err = cli(*asked)
    assert (code, out) == (5, "")
    (line,) = [line for line in err.splitlines() if line.startswith("error:")]
    assert re.search(said, line)
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_a_run_that_is_not_kept_needs_no_room(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(attnx.plugin.Metric):
        """Always one."""

        family = "shape"
        sees = "scores"
        measures = (attnx.plugin.Measure("own", "none", (0, 1)),)

        def __call__(self, evidence: Any) -> Any:
            return evidence.trace.logits.new_ones(len(evidence.trace.logits), 1)

    attnx.evaluate(**SMALL)  # its weights are kept
    monkeypatch.setattr("shutil.disk_usage", free(0))
    assert attnx.evaluate(**{**SMALL, "metrics": Own()}).select("own").mean == 1
