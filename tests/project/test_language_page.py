"""docs/language-models.md: its tables are those of the stored results."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_are_those_of_the_stored_results() -> None:
    spec = importlib.util.spec_from_file_location("language_tables", ROOT / "docs" / "data" / "language.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    page = (ROOT / "docs" / "language-models.md").read_text(encoding="utf-8")
    assert page == tables.page(), "run python docs/data/language.py"
    assert page.count("| loo |") == 3
