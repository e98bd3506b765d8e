"""docs/planted.md: its code runs, its tables are those of the stored reports, its example file is read."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from attnx.data.loading import Source
from attnx.results import PlantedReport
from attnx_texts.minimal_pairs import MinimalPairs
from attnx_texts.minimal_pairs_options import MinimalPairsOptions

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "planted.md"


def script() -> Any:
    spec = importlib.util.spec_from_file_location("planted_tables", ROOT / "docs" / "data" / "planted.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_stored_reports() -> None:
    tables = script()
    assert PAGE.read_text(encoding="utf-8") == tables.page(), "run python docs/data/planted.py"


def test_the_stored_reports_show_models_that_use_the_trigger_and_one_that_does_not() -> None:
    stored: list[PlantedReport] = list(script().reports().values())
    assert any(report.verified for report in stored)
    assert any(not report.verified for report in stored)
    for report in stored:
        assert bool(report.rows) == report.verified


def test_the_code_of_the_page_runs(capsys: Any) -> None:
    for code in re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        exec(compile(code, str(PAGE), "exec"), {})
    assert "input-x-gradient finds the planted trigger" in capsys.readouterr().out


def test_the_example_file_of_pairs_can_be_read() -> None:
    task = MinimalPairs(MinimalPairsOptions(test=ROOT / "examples" / "pairs.jsonl"))
    data = task.load(Source())
    assert len(data.test) == 12
    marked = [[u for u, m in zip(e.units, e.rationale or (), strict=True) if m] for e in data.test]
    assert marked[:6] == [
        ["fine"],
        ["dull"],
        ["superb", "holds", "together"],
        ["wooden", "falls", "apart"],
        [],
        ["not"],
    ]
