"""A report says the same, to the digits it prints, whatever instructions a processor has.

Training multiplies differences of rounding, so models are trained once and measured by each kind of
processor: with the instructions of every x86 processor, of one without AVX-512, with reproducible sums, with
two threads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from measure_on_this_processor import measure, train

SCRIPT = Path(__file__).parents[1] / "measure_on_this_processor.py"
SETTINGS: dict[str, dict[str, str]] = {
    "any x86": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "reproducible sums": {"MKL_CBWR": "COMPATIBLE"},
    "two threads": {"OMP_NUM_THREADS": "2"},
}
SAME = 2e-5  # far below the third digit that is printed; a number between two printed ones may go either way


def called(what: str, folder: Path, models: str, **settings: str) -> dict[str, Any]:
    """What the script prints in a process with these settings, and with none of those around this test."""
    own = {name: value for name, value in os.environ.items() if name not in SETTINGS["any x86"]}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), what, str(folder), models],
        env={**own, "OMP_NUM_THREADS": "1", **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout or "{}")
    return found


def require_same(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, (value, printed) in expected.items():
        ours, said = found[name]
        if said != printed:
            assert abs(ours - value) <= SAME, f"{name}: {said} and {printed}"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights that were trained here, whatever here is."""
    folder = tmp_path_factory.mktemp("weights")
    called("train", folder, "all")
    return folder


def test_a_report_of_an_lstm_says_the_same_with_the_instructions_of_any_processor(tmp_path: Path) -> None:
    train(tmp_path, ["bilstm"])
    here = measure(tmp_path, ["bilstm"])
    assert len(here) > 300
    require_same(called("measure", tmp_path, "bilstm", **SETTINGS["any x86"]), here)


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_reports_of_all_encoders_say_the_same_on_every_processor(
    settings: dict[str, str], trained: Path
) -> None:
    here = called("measure", trained, "all")
    assert len(here) > 3000
    require_same(called("measure", trained, "all", **settings), here)


def test_other_digits_are_seen() -> None:
    same = {"row": [0.12345, "0.123"]}
    require_same({"row": [0.12346, "0.123"]}, same)
    with pytest.raises(AssertionError, match=r"row: 0\.124 and 0\.123"):
        require_same({"row": [0.1237, "0.124"]}, same)
