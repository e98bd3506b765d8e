"""docs/methods.md is what its data say, and its rows are methods that exist."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

from attnx.host.catalog import Catalog

DOCS = Path(__file__).parents[2] / "docs"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("methods_page", DOCS / "data" / "methods.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_from_its_data() -> None:
    assert (DOCS / "methods.md").read_text() == script().page()


def test_every_row_is_an_installed_method_with_a_share_in_its_interval() -> None:
    known = {one.name for one in Catalog.installed().of_kind("importance")}
    for found in json.loads((DOCS / "data" / "methods.json").read_text()).values():
        assert {row["method"].partition(":")[0] for row in found["rows"]} <= known
        for row in found["rows"]:
            assert row["low"] <= row["share"] <= row["high"]
