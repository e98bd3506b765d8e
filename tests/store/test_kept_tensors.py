"""What is kept on disk: verified, never pickled, within its budget, the longest unused deleted first."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from attnx.errors import AttnxWarning, UsageError
from attnx.store.kept_tensors import KeptTensors, budget, list_kept

KEY = "0123"
TENSORS = {"values": torch.arange(6.0).view(2, 3), "empty": torch.zeros(0, 3)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def test_what_was_kept_is_found_to_the_last_bit(root: Path) -> None:
    store = KeptTensors("states", root)
    assert store.find(KEY) is None
    assert store.keep(KEY, TENSORS, {"seconds": 0.1})
    found = KeptTensors("states", root).find(KEY)
    assert found is not None
    assert all(torch.equal(found[0][name], TENSORS[name]) for name in TENSORS)
    assert found[1] == {"seconds": 0.1}
    assert KeptTensors("importances", root).find(KEY) is None


@pytest.mark.parametrize("damage", ["cut", "flipped", "another key"])
def test_damaged_files_are_not_used(root: Path, damage: str) -> None:
    store = KeptTensors("states", root)
    store.keep(KEY, TENSORS, {})
    (one,) = list_kept("states", root)
    content = bytearray(one.path.read_bytes())
    if damage == "another key":
        one.path.rename(one.path.with_name("4567.safetensors"))
    else:
        content[-1] ^= 1
        one.path.write_bytes(content[:-9] if damage == "cut" else content)
    with pytest.warns(AttnxWarning, match="computed again"):
        assert store.find("4567" if damage == "another key" else KEY) is None


def test_what_was_not_used_for_longest_goes_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"values": torch.zeros(1000)}  # 4 kB, and its header
    for key in "abcd":
        KeptTensors("states", root).keep(key, values, {})
    for age, key in enumerate("dbca"):
        os.utime(root / "states" / f"{key}.safetensors", (1e9 - age, 1e9 - age))
    assert KeptTensors("states", root).find("a") is not None  # which is a use
    monkeypatch.setenv("ATTNX_KEEP_GB", str(13.5e-6))
    KeptTensors("importances", root).keep("e", values, {})
    left = {one.path.stem for room in ("states", "importances") for one in list_kept(room, root)}
    assert left == {"a", "d", "e"}


def test_more_than_the_budget_is_never_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = KeptTensors("states", root)
    store.keep(KEY, TENSORS, {})
    monkeypatch.setenv("ATTNX_KEEP_GB", "0")
    assert budget() == 0
    assert not store.keep("more", TENSORS, {})
    assert store.find(KEY) is None
    assert len(list_kept("states", root)) == 1


@pytest.mark.parametrize("wrong", ["-1", "much", "nan"])
def test_a_budget_is_a_number(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNX_KEEP_GB", wrong)
    with pytest.raises(UsageError, match="size in GB"):
        budget()


def test_a_folder_that_cannot_be_written_to_is_only_a_warning(root: Path) -> None:
    root.write_text("in the way")
    with pytest.warns(AttnxWarning, match="Nothing can be kept"):
        assert not KeptTensors("states", root).keep(KEY, TENSORS, {})


def test_kept_files_are_listed_and_deleted(home: Path, cli: Any) -> None:
    KeptTensors("importances").keep(KEY, TENSORS, {})
    code, out, _ = cli("runs", "kept", "--json")
    rooms = {room["what"]: room["files"] for room in json.loads(out)}
    assert (code, rooms) == (0, {"states": 0, "importances": 1})
    assert "importances" in cli("runs", "kept")[1]
    assert "Nothing" in cli("runs", "kept", "--delete", "--older-than", "1d")[1]
    assert "would delete 1" in cli("runs", "kept", "--delete", "--dry-run")[1]
    assert len(list_kept("importances")) == 1
    assert "deleted 1" in cli("runs", "kept", "--delete")[1]
    assert not list_kept("importances")
    assert not list((home / "kept" / "importances").iterdir())
