"""What is computed is never lost with the place to keep it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from faults import failing_disk

import attnx
from attnx import AttnxError, Report

SMALL: dict[str, Any] = {
    "task": "sdc-error-mode-1:train=20,dev=20,test=20",
    "training": {"epochs": 1},
    "metrics": "nnz",
    "progress": False,
}
COMMAND = ["evaluate", "--task", SMALL["task"], "--train", "epochs=1", "--metric", "nnz"]


def found(report: Report) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(report.to_json())
    fields.pop("seconds")
    return fields


@pytest.mark.parametrize(("code", "lasting"), [(errno.ENOSPC, True), (errno.EACCES, False)])
def test_a_fault_at_any_change_of_the_store_loses_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, code: int, lasting: bool
) -> None:
    with failing_disk(home.parent) as disk:
        whole = found(attnx.evaluate(**SMALL))
    assert disk.changes > 10
    refused: list[str] = []
    for number in range(1, disk.changes + 1):
        place = home.parent / f"home-{number}"
        monkeypatch.setenv("ATTNX_HOME", str(place))
        with failing_disk(place, number, code, lasting=lasting), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                assert found(attnx.evaluate(**SMALL)) == whole  # with the disk's fault
            except AttnxError as error:
                refused.append(str(error))
                assert not list(place.glob("weights/*"))  # before anything was computed
        if told:
            assert "is finished but not kept" in str(told[0].message)
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
        assert "not kept" in err
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
    assert "not kept" in err


def test_a_disk_of_16_kilobytes_shows_the_report(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"mounting a disk takes rights that are not given here: {mounted.stderr!r}")
    try:
        ended = subprocess.run(
            [sys.executable, "-c", "from attnx.cli.app import main; main()", *COMMAND],
            env=os.environ | {"ATTNX_HOME": str(disk)},
            capture_output=True,
            text=True,
        )
    finally:
        subprocess.run(["umount", disk], check=True)
    assert ended.returncode == 5
    assert "nnz" in ended.stdout
    assert ended.stderr.splitlines()[-1].startswith("error: The report is finished but not kept")
    assert "Traceback" not in ended.stderr
