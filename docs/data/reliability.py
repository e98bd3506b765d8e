"""Counts the tests behind docs/reliability.md and writes the numbers into its table.

    python docs/data/reliability.py tests       run the tests that the page names, and store how many passed
    python docs/data/reliability.py fuzz 10     store what `make fuzz MINUTES=10` wrote into build/fuzz.xml
    python docs/data/reliability.py             write the stored numbers into the page

A test that tries several cases counts them with `cases.count_cases`. A test of the project compares the page
with what is stored.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
PAGE, STORED = ROOT / "docs" / "reliability.md", Path(__file__).with_suffix(".json")
FUZZ, QUICK = "make fuzz", "tests/fuzz"


def files_of(row: str) -> list[str]:
    """The test files that a row of the page names."""
    return list(dict.fromkeys(re.findall(r"tests/[\w/]+\.py", row)))


def rows(text: str) -> Iterator[str]:
    """The rows of the table of guarantees."""
    table = text.split("| guarantee |")[1].split("\n\n")[0]
    return (line for line in table.splitlines()[2:] if line.startswith("|"))


def counted(result: Path) -> dict[str, Counter[str]]:
    """Tests, cases and failures by file, from a JUnit file of pytest."""
    found: dict[str, Counter[str]] = {}
    for test in ElementTree.parse(result).iter("testcase"):
        if test.find("skipped") is not None:
            continue
        module = re.sub(r"\.[A-Z]\w*$", "", test.get("classname", ""))
        count = found.setdefault(f"{module.replace('.', '/')}.py", Counter(tests=0, cases=0, failed=0))
        count["tests"] += 1
        count["failed"] += test.find("failure") is not None or test.find("error") is not None
        count["cases"] += sum(int(one.get("value", 0)) for one in test.iter("property"))
    return found


def store(**parts: Any) -> None:
    """Replace parts of what is stored."""
    before = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    STORED.write_text(json.dumps(before | parts, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def today() -> str:
    """The date of a run."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def run_tests() -> None:
    """Run what the page names, without slow tests, and store the counts."""
    files = [name for row in rows(PAGE.read_text(encoding="utf-8")) for name in files_of(row)]
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", f"--junitxml={result}"]
        subprocess.run([*command, QUICK, *dict.fromkeys(files)], cwd=ROOT, check=False)
        store(tests={"date": today(), "files": counted(result)})


def store_fuzz(result: Path, minutes: float) -> None:
    """Store what a run of `make fuzz` found."""
    total: Counter[str] = sum(counted(result).values(), Counter())
    found = {"targets": total["tests"], "cases": total["cases"], "findings": total["failed"]}
    store(fuzz={"date": today(), "minutes": minutes, **found})


def page() -> str:
    """The page with the numbers that are stored."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    for row in rows(text):
        guarantee, tested, *_ = row.strip("| ").split(" | ")
        numbers, failed = _numbers(tested, stored)
        text = text.replace(row, f"| {guarantee} | {tested} | {numbers} | {failed} |")
    return text


def _numbers(tested: str, stored: dict[str, Any]) -> tuple[str, int]:
    """What was counted for a row, and how much of it failed."""
    files = {name: Counter(count) for name, count in stored["tests"]["files"].items()}
    if FUZZ in tested:
        fuzz = stored["fuzz"]
        quick = sum(count["cases"] for name, count in files.items() if name.startswith(QUICK))
        long = (
            f"{fuzz['cases']} for {fuzz['targets']} targets in {fuzz['minutes']:g} minutes ({fuzz['date']})"
        )
        return f"{quick} cases in every `make test`; {long}", fuzz["findings"]
    total: Counter[str] = sum((files.get(name, Counter()) for name in files_of(tested)), Counter())
    cases = f", {total['cases']} cases" if total["cases"] else ""
    return f"{total['tests']} tests{cases}", total["failed"]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["tests"]:
            run_tests()
        case ["fuzz", minutes]:
            store_fuzz(ROOT / "build" / "fuzz.xml", float(minutes))
    PAGE.write_text(page(), encoding="utf-8")
