"""What was changed after it was written is not believed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases import count_cases

import attnx
from attnx.errors import AttnxWarning
from attnx.plugin import DataError
from attnx.store.runs import read_report, read_study

SMALL: dict[str, Any] = {
    "task": "sdc-error-mode-1:train=20,dev=20,test=20",
    "training": {"epochs": 1},
    "metrics": "nnz",
    "progress": False,
}


def change_byte(file: Path, position: int) -> None:
    """Change one byte; size and time stay."""
    stat, content = file.stat(), bytearray(file.read_bytes())
    content[position] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def edit_mean(folder: Path) -> None:
    file = folder / "report.json"
    fields = json.loads(file.read_text())
    fields["summaries"][0]["mean"] = 0.5
    file.write_text(json.dumps(fields))


def other_run(folder: Path) -> None:
    """The report of another run in this one's place, seal and all."""
    attnx.evaluate(**{**SMALL, "metrics": "entropy"}, out=folder.parent)
    (other,) = [path for path in folder.parent.iterdir() if path != folder]
    for name in ("report.json", "seal.json"):
        (folder / name).write_bytes((other / name).read_bytes())


DAMAGES: list[Callable[[Path], object]] = [
    edit_mean,
    other_run,
    lambda folder: (folder / "seal.json").unlink(),
    lambda folder: (folder / "seal.json").write_text("[]"),
    lambda folder: (folder / "seal.json").write_text("[" * 100_000),
    lambda folder: (folder / "report.json").write_text("[" * 100_000),
    lambda folder: (folder / "report.json").write_bytes(b"\xff"),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_report_is_a_warning_and_computed_again(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    first = attnx.evaluate(**SMALL, out=tmp_path)
    folder = tmp_path / first.fingerprint
    damage(folder)
    with pytest.warns(AttnxWarning, match="report.json' is damaged, .*; the run is computed again"):
        again = attnx.evaluate(**SMALL, out=tmp_path)
    assert (again.fingerprint, again.summaries) == (first.fingerprint, first.summaries)
    assert attnx.evaluate(**SMALL, out=tmp_path).summaries == first.summaries


def test_no_byte_of_a_report_can_change_in_silence(tmp_path: Path) -> None:
    folder = tmp_path / attnx.evaluate(**SMALL, out=tmp_path).fingerprint
    assert read_report(folder) is not None
    size = (folder / "report.json").stat().st_size
    for position in range(0, size, size // 100):
        change_byte(folder / "report.json", position)
        assert read_report(folder) is None
        change_byte(folder / "report.json", position)
        count_cases()
    assert read_report(folder) is not None


@pytest.mark.parametrize("name", ["examples.safetensors", "examples.jsonl.gz"])
def test_changed_examples_are_refused(tmp_path: Path, name: str) -> None:
    report = attnx.evaluate(**SMALL, out=tmp_path)
    change_byte(tmp_path / report.fingerprint / name, -9)  # a value, or what would be unpacked
    kept = attnx.evaluate(**SMALL, out=tmp_path)
    with pytest.raises(DataError, match="was changed after it was written"):
        kept.examples()


def test_a_study_that_was_edited_is_named_and_not_shown(home: Path, cli: Any) -> None:
    attnx.study("uniform-attention", SMALL["task"], training={"epochs": 1}, progress=False)
    (folder,) = (home / "studies").glob("[!.]*")
    file = folder / "study.json"
    whole = file.read_bytes()
    assert read_study(folder) is not None
    for position in range(0, len(whole), len(whole) // 50):
        change_byte(file, position)
        assert read_study(folder) is None
        change_byte(file, position)
        count_cases()
    assert read_study(folder) is not None
    fields = json.loads(whole)
    fields["findings"][0]["mean"] = 0.5
    file.write_text(json.dumps(fields))
    code, out, err = cli("runs", "--json")
    (line,) = json.loads(out)
    assert (code, err, line["name"], line["kind"]) == (0, "", folder.name, "unreadable")
    assert "edited" in line["reason"]
    code, out, err = cli("runs", "show", folder.name)
    assert (code, out, len(err.splitlines())) == (4, "", 1)
