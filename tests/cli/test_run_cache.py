"""The list of runs is a cache: it is checked against the reports, and nothing is deleted because of it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases import count_cases

import attnx
from attnx.results.report import Report
from attnx.store import run_list
from attnx.store.seals import SEAL

TASK = "sdc-text:train=60,dev=30,test=40"
Kept = tuple[Path, Report, Report]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report, Report]:
    """Two runs with weights of their own, made once."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNX_HOME", str(folder))
        runs = [
            attnx.evaluate(
                TASK, metrics="nnz", projection=name, training={"epochs": 1}, progress=False, keep="values"
            )
            for name in ("softmax", "sparsemax")
        ]
    return folder, runs[0], runs[1]


@pytest.fixture
def kept(made: Kept, home: Path, cli: Any) -> Kept:
    shutil.copytree(made[0], home)
    assert cli("runs")[0] == 0  # the cache is written
    return home / "runs", made[1], made[2]


def listed(cli: Any) -> dict[str, dict[str, Any]]:
    code, out, err = cli("runs", "--json")
    assert (code, err) == (0, "")
    return {line["name"]: line for line in json.loads(out)}


def write_cache(runs: Path, lines: Any, **other: Any) -> None:
    """A cache with whatever lines, its checksum as ours."""
    stored = json.loads((runs / run_list.CACHE).read_text())
    text = json.dumps(lines)
    stored |= {"lines": text, "sha256": hashlib.sha256(text.encode()).hexdigest()} | other
    (runs / run_list.CACHE).write_text(json.dumps(stored))


def read_cache(runs: Path) -> Any:
    return json.loads(json.loads((runs / run_list.CACHE).read_text())["lines"])


def test_a_number_that_was_written_into_the_cache_is_not_shown(kept: Kept, cli: Any) -> None:
    runs, first, _ = kept
    true = listed(cli)[first.fingerprint]["numbers"]["accuracy"]
    file = runs / run_list.CACHE
    text = file.read_text()
    assert str(true) in text
    file.write_text(text.replace(str(true), "0.999"))
    assert listed(cli)[first.fingerprint]["numbers"]["accuracy"] == true
    assert "0.999" not in file.read_text()  # it was written again


def test_a_report_that_was_edited_is_unreadable_though_its_line_is_in_the_cache(kept: Kept, cli: Any) -> None:
    runs, first, second = kept
    for name in ("report.json", SEAL):
        file = runs / first.fingerprint / name
        whole, stat = file.read_bytes(), file.stat()
        digit = re.search(rb"[0-9]", whole)
        assert digit
        other = b"%d" % ((int(digit[0]) + 1) % 10)
        file.write_bytes(whole[: digit.start()] + other + whole[digit.end() :])  # of the same size
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        lines = listed(cli)
        assert (lines[first.fingerprint]["kind"], lines[second.fingerprint]["kind"]) == ("unreadable", "run")
        file.write_bytes(whole)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert listed(cli)[first.fingerprint]["kind"] == "run"


def test_weights_that_a_run_names_are_kept_whatever_the_cache_says(kept: Kept, cli: Any) -> None:
    runs, first, second = kept
    lines = read_cache(runs)
    for entry in lines.values():
        entry["line"]["weights"] = ["0" * 16]
    named = {*first.provenance.weights_folders.values(), *second.provenance.weights_folders.values()}
    for act in (["--json"], ["--prune", "--dry-run"], ["--prune"]):
        write_cache(runs, lines)
        code, out, err = cli("runs", "weights", *act)
        assert (code, err) == (0, "")
        if act == ["--json"]:
            assert all(row["runs"] for row in json.loads(out) if row["name"] in named)
        assert {path.name for path in (runs.parent / "weights").glob("[!.]*")} >= named


def test_runs_are_pruned_by_the_time_of_their_reports_not_of_the_cache(kept: Kept, cli: Any) -> None:
    runs, _, _ = kept
    lines = read_cache(runs)
    for entry in lines.values():
        entry["line"]["written"] = "2001-01-01T00:00:00"
    write_cache(runs, lines)
    assert cli("runs", "prune", "--older-than", "1d")[1] == "Nothing to delete.\n"


ODD: list[Any] = [
    *(None, [], 0, "text", {"x": None}, {"x": []}, [["a", "b"]], [[{}, 1]]),
    *({"line": value} for value in (None, [], {}, "text", 7)),
]
FIELDS: list[tuple[str, Any]] = [
    *(("labels", value) for value in (None, [], "text", {"task": 3}, {"task": None})),
    *(("numbers", value) for value in (None, [1], {"accuracy": "high"}, {"accuracy": []})),
    *(("verdicts", value) for value in ([], {"attention": "perfect"}, {"attention": 1})),
    *(("written", value) for value in (None, "yesterday", [], {})),
    *(("seeds", value) for value in (None, 3, ["zero"], [[0]])),
    *(("kind", "nothing"), ("kind", "unreadable"), ("kind", 1), ("name", "another"), ("name", None)),
    *(("weights", value) for value in (None, 4, [None], [["a"]])),
    ("reason", {}),
]


@pytest.mark.parametrize("lines", ODD)
def test_an_odd_cache_is_written_again(kept: Kept, cli: Any, lines: Any) -> None:
    runs, _, _ = kept
    whole = listed(cli)
    write_cache(runs, lines)
    assert listed(cli) == whole
    assert set(read_cache(runs)) == set(whole)


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_an_odd_line_of_the_cache_is_written_again(kept: Kept, cli: Any, field: str, value: Any) -> None:
    runs, first, _ = kept
    whole = listed(cli)
    lines = read_cache(runs)
    lines[first.fingerprint]["line"][field] = value
    write_cache(runs, lines)
    assert listed(cli) == whole
    write_cache(runs, lines)
    assert cli("runs")[::2] == (0, "")


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.unlink(),
        lambda file: (file.unlink(), file.mkdir()),
        lambda file: file.write_text("[" * 100_000),
        lambda file: file.write_text(json.dumps({"version": None})),
        lambda file: file.write_bytes(b"\xff\xfe"),
        lambda file: file.write_text(file.read_text().replace('"lines": "', '"lines": 7, "x": "')),
    ],
)
def test_a_damaged_cache_is_written_again(kept: Kept, cli: Any, damage: Callable[[Path], object]) -> None:
    runs, _, _ = kept
    whole = listed(cli)
    damage(runs / run_list.CACHE)
    assert listed(cli) == whole


def test_no_change_of_a_byte_of_the_cache_shows(kept: Kept) -> None:
    runs, _, _ = kept
    whole, file = [line.to_dict() for line in run_list.list_runs(runs)], runs / run_list.CACHE
    content = file.read_bytes()
    chosen = random.Random(0)
    for _ in range(300):
        changed = bytearray(content)
        changed[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
        file.write_bytes(changed)
        count_cases()
        assert [line.to_dict() for line in run_list.list_runs(runs)] == whole


def exchange_folders(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def exchange_files(one: Path, other: Path) -> None:
    for name in ("report.json", "report.md", SEAL):
        here, there = (one / name).read_bytes(), (other / name).read_bytes()
        (one / name).write_bytes(there)
        (other / name).write_bytes(here)


@pytest.mark.parametrize("exchange", [exchange_folders, exchange_files])
def test_exchanged_runs_are_refused(kept: Kept, cli: Any, exchange: Callable[[Path, Path], None]) -> None:
    runs, first, second = kept
    names = (first.fingerprint, second.fingerprint)
    exchange(runs / names[0], runs / names[1])
    assert {line["kind"] for line in listed(cli).values()} == {"unreadable"}
    for name in names:
        for command in (["runs", "show"], ["export"], ["view"]):
            code, out, err = cli(*command, name)
            assert (code, out, len(err.splitlines())) == (4, "", 1), err
            assert "renamed" in err
    exchange(runs / names[0], runs / names[1])
    assert {line["kind"] for line in listed(cli).values()} == {"run"}


def test_examples_of_another_run_are_refused(kept: Kept) -> None:
    runs, first, second = kept
    for name in ("examples.safetensors", "examples.jsonl.gz"):
        shutil.copy(runs / second.fingerprint / name, runs / first.fingerprint / name)
    with pytest.raises(attnx.AttnxError, match="damaged"):
        attnx.load(first.fingerprint).report.examples()


def test_a_study_in_the_folder_of_another_is_refused(home: Path, cli: Any) -> None:
    attnx.study("uniform-attention", TASK, training={"epochs": 1}, progress=False)
    (folder,) = (home / "studies").glob("[!.]*")
    folder.rename(folder.with_name("uniform-attention-0"))
    code, _, err = cli("runs", "show", "uniform-attention-0")
    assert (code, len(err.splitlines())) == (4, 1)


def test_a_link_to_a_run_and_a_path_with_dots_are_read(kept: Kept, cli: Any, tmp_path: Path) -> None:
    runs, first, _ = kept
    (tmp_path / "latest").symlink_to(runs / first.fingerprint)
    for name in (tmp_path / "latest", runs / first.fingerprint / ".." / first.fingerprint):
        assert cli("runs", "show", str(name), "--json")[1] == first.to_json()


@pytest.mark.parametrize("columns", ["0", "1", "-3", "many", "", "99999"])
def test_any_width_of_a_terminal_shows_the_runs(
    kept: Kept, cli: Any, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    _, first, _ = kept
    monkeypatch.setenv("COLUMNS", columns)
    for command in (["runs"], ["runs", "show", first.fingerprint], ["list", "metrics"]):
        code, out, err = cli(*command)
        assert code == 0, err
        assert out
    assert first.fingerprint in cli("runs")[1]
