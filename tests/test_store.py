"""What is kept on disk is whole or absent, and never unpickled."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

import attnx
from attnx.errors import PluginError, UsageError
from attnx.results import Report
from attnx.store import Runs, Weights, check_writable, code_hash, home, tensors_hash

STATE = {
    "weight": torch.arange(6.0).reshape(2, 3).T,  # not contiguous
    "bias": torch.tensor([0.5, float("inf")], dtype=torch.float64),
    "steps": torch.tensor(3),
}
RECORD = {"best_epoch": 2, "course": [{"epoch": 0, "loss": None, "name": "Σ α"}]}


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
    assert files(folder) == {"report.json", "report.md"}
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


def test_writers_at_the_same_time_leave_one_whole_run(tmp_path: Path) -> None:
    """While they write, a reader finds a whole run or none."""
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
        f"0123456789abcdef/report.{kind}" for kind in ("json", "md")
    }


# Weights.


def test_weights_come_back_with_their_record(tmp_path: Path) -> None:
    weights = Weights(tmp_path / "weights")
    assert weights.find("key") is None
    weights.write("key", STATE, RECORD)
    found = weights.find("key")
    assert found is not None
    state, record = found
    assert record == RECORD
    assert state.keys() == STATE.keys()
    for name, tensor in STATE.items():
        assert state[name].dtype == tensor.dtype
        assert torch.equal(state[name], tensor)
    assert tensors_hash(state) == tensors_hash(STATE)
    assert weights.find("other") is None


def test_weights_that_share_memory_are_kept_apart(tmp_path: Path) -> None:
    shared = torch.arange(4.0)
    Weights(tmp_path).write("key", {"a": shared, "b": shared[:2]}, {})
    found = Weights(tmp_path).find("key")
    assert found is not None
    assert found[0]["b"].tolist() == [0.0, 1.0]


def test_a_failure_while_saving_leaves_no_weights(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        Weights(tmp_path).write("key", STATE, {"record": object()})
    assert files(tmp_path) == set()
    assert Weights(tmp_path).find("key") is None


class Trap:
    """Leaves a trace when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("dump", ["pickle", "torch"])
def test_a_pickle_in_the_place_of_weights_is_refused_unread(dump: str, tmp_path: Path) -> None:
    place = tmp_path / "key" / "weights.safetensors"
    place.parent.mkdir()
    trace = tmp_path / "unpickled"
    if dump == "pickle":
        place.write_bytes(pickle.dumps(Trap(trace)))
    else:
        torch.save({"weight": Trap(trace)}, place)
    assert Weights(tmp_path).find("key") is None
    assert not trace.exists()
    pickle.loads(pickle.dumps(Trap(trace)))
    assert trace.exists(), "the trap does not work"


def damage(place: Path, how: str) -> None:
    whole = place.read_bytes()
    if how == "cut short":
        place.write_bytes(whole[:-3])
    elif how == "one bit of a tensor":
        place.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    elif how == "one digit of the record":
        assert whole.count(b'best_epoch\\": 2') == 1
        place.write_bytes(whole.replace(b'best_epoch\\": 2', b'best_epoch\\": 3'))
    elif how == "no record":
        save_file({"weight": torch.zeros(2)}, place)
    elif how == "a folder":
        place.unlink()
        place.mkdir()
    else:
        place.write_bytes(b"")


@pytest.mark.parametrize(
    "how",
    ["cut short", "one bit of a tensor", "one digit of the record", "no record", "a folder", "empty"],
)
def test_damaged_weights_are_as_good_as_none_with_one_line(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = Weights(tmp_path)
    weights.write("key", STATE, RECORD)
    damage(tmp_path / "key" / "weights.safetensors", how)
    assert weights.find("key") is None
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"warning: damaged weights in '{tmp_path / 'key'}' (")
    weights.write("key", STATE, RECORD)
    assert weights.find("key") is not None
    assert capsys.readouterr().err == ""


def test_weights_under_the_name_of_others_are_not_taken(tmp_path: Path) -> None:
    Weights(tmp_path).write("key", STATE, RECORD)
    (tmp_path / "key").rename(tmp_path / "other")
    assert Weights(tmp_path).find("other") is None


def test_weights_that_vanish_while_they_are_looked_for_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import safetensors

    weights = Weights(tmp_path)
    weights.write("key", STATE, RECORD)
    opened = safetensors.safe_open

    def late(path: Path, **settings: Any) -> Any:
        (tmp_path / "key").rename(tmp_path / "aside")
        return opened(path, **settings)

    monkeypatch.setattr("safetensors.safe_open", late)
    assert weights.find("key") is None
    assert capsys.readouterr().err == ""


# Places.


def test_what_is_kept_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").mkdir()
    (tmp_path / "usual" / "file").touch()
    Weights(tmp_path).write("key", STATE, RECORD)
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
        lambda: Weights(tmp_path).write(place.name, STATE, RECORD),
    ]
    for call in calls:
        with pytest.raises(UsageError, match=f"'{place}' is a file where a folder is to be written"):
            call()
    assert files(tmp_path) == {place.name}
    assert place.read_text() == "mine"


# Hashes.


def test_the_hash_of_tensors_knows_name_type_shape_and_value() -> None:
    known = tensors_hash({"a": torch.zeros(2, 3), "b": torch.ones(2)})
    assert tensors_hash({"b": torch.ones(2), "a": torch.zeros(3, 2).T}) == known
    others = [
        {"a": torch.zeros(2, 3), "c": torch.ones(2)},
        {"a": torch.zeros(3, 2), "b": torch.ones(2)},
        {"a": torch.zeros(2, 3), "b": torch.ones(2, dtype=torch.float64)},
        {"a": torch.zeros(2, 3), "b": torch.tensor([1.0, 1.0000001])},
    ]
    assert len({known, *map(tensors_hash, others)}) == 5


def test_the_hash_of_code_changes_with_any_source_file(install: Callable[..., Path]) -> None:
    import sys

    package = install("hashed", "VALUE = 1", inner="VALUE = 2")
    hashes = [code_hash("hashed_plugin")]
    assert code_hash("hashed_plugin") == hashes[0]
    (package / "inner.py").write_text("VALUE = 3")
    hashes.append(code_hash("hashed_plugin"))
    (package / "inner.py").rename(package / "other.py")
    hashes.append(code_hash("hashed_plugin"))
    (package / "deep").mkdir()
    (package / "deep" / "more.py").write_text("")
    hashes.append(code_hash("hashed_plugin"))
    assert len(set(hashes)) == 4
    (package / "notes.txt").write_text("not source")
    assert code_hash("hashed_plugin") == hashes[-1]
    assert "hashed_plugin" not in sys.modules


def test_a_module_without_a_package_has_a_hash_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "single_plugin.py").write_text("VALUE = 1")
    (tmp_path / "neighbour_plugin.py").write_text("VALUE = 1")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = code_hash("single_plugin")
    (tmp_path / "neighbour_plugin.py").write_text("VALUE = 2")
    assert code_hash("single_plugin") == before
    (tmp_path / "single_plugin.py").write_text("VALUE = 2")
    assert code_hash("single_plugin") != before


def test_code_that_cannot_be_found_is_a_plugin_error() -> None:
    with pytest.raises(PluginError, match="no_such_package_anywhere"):
        code_hash("no_such_package_anywhere")


def test_a_package_without_an_init_file_has_a_hash_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spread_plugin").mkdir()
    (tmp_path / "spread_plugin" / "part.py").write_text("VALUE = 1")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = code_hash("spread_plugin")
    (tmp_path / "spread_plugin" / "part.py").write_text("VALUE = 2")
    assert code_hash("spread_plugin") != before


def test_a_run_that_is_being_written_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / ".writing-x").mkdir()
    (tmp_path / ".writing-x" / "report.json").write_text("{}")
    assert list(Runs(tmp_path)) == []
