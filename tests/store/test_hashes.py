"""Hashes of tensors and of code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from attnx.errors import PluginError
from attnx.store.identity import code_hash
from attnx.store.weights import tensors_hash


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
