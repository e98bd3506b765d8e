"""docs/peers.md is what its data and the installed components say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from attnx.host.catalog import Catalog

DATA = Path(__file__).parents[2] / "docs" / "data"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that writes the page."""
    spec = importlib.util.spec_from_file_location("peers", DATA / "peers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(script: Any) -> None:
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run python docs/data/peers.py"


def test_every_name_of_ours_is_installed(script: Any) -> None:
    assert script.unknown_names(Catalog.installed()) == []


def test_every_row_has_a_counterpart_or_a_reason_and_every_group_of_quantus_is_complete(script: Any) -> None:
    groups: dict[str, int] = {}
    for peer in script.read()["peers"]:
        names = [name for entry in peer["entries"] for name in entry["name"].split(", ")]
        assert len(set(names)) == len(names), peer["name"]
        for entry in peer["entries"]:
            assert entry.get("ours") or entry.get("why"), entry["name"]
            if peer["name"] == "Quantus":
                groups[entry["group"]] = groups.get(entry["group"], 0) + 1
    assert groups == {
        "faithfulness": 12, "robustness": 8, "localisation": 7, "complexity": 3, "randomisation": 4,
        "axiomatic": 3,
    }  # fmt: skip
