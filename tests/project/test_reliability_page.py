"""The numbers of docs/reliability.md are those that were counted."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from documented import ROOT


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reliability", ROOT / "docs" / "data" / "reliability.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_what_was_counted(script: ModuleType) -> None:
    page = script.PAGE.read_text(encoding="utf-8")
    assert page == script.page(), "run python docs/data/reliability.py"
    assert len(list(script.rows(page))) > 20


def test_every_test_that_the_page_names_exists(script: ModuleType) -> None:
    for row in script.rows(script.PAGE.read_text(encoding="utf-8")):
        files = script.files_of(row)
        assert files or script.FUZZ in row, row
        assert [name for name in files if not (ROOT / name).is_file()] == []


def test_tests_cases_and_failures_are_counted_by_file(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "found.xml").write_text(
        """<testsuites><testsuite>
        <testcase classname="tests.store.test_a" name="one"><properties>
          <property name="cases" value="7"/></properties></testcase>
        <testcase classname="tests.store.test_a.TestRooms" name="two"><failure/></testcase>
        <testcase classname="tests.store.test_a" name="three"><skipped/></testcase>
        <testcase classname="tests.test_b" name="four"/>
        </testsuite></testsuites>"""
    )
    assert script.counted(tmp_path / "found.xml") == {
        "tests/store/test_a.py": {"tests": 2, "cases": 7, "failed": 1},
        "tests/test_b.py": {"tests": 1, "cases": 0, "failed": 0},
    }
