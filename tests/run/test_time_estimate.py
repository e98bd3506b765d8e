"""What takes long is announced before it starts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric
from attnx.progress import Progress
from attnx.request.plan import Tests
from attnx.results.formatting import duration
from attnx.run.measuring import time_estimate
from attnx.run.measuring.attribution import Named
from attnx.run.measuring.splits import Split
from attnx.testing import ToyModel, toy_data
from attnx_baselines.attention import Attention


def write_texts(path: Path, lengths: list[int]) -> Path:
    lines = [
        {"text": " ".join(f"w{(i + j) % 50}" for j in range(n)), "label": "yn"[i % 2]}
        for i, n in enumerate(lengths)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    """Twenty short texts, and in the test split one of a hundred words."""
    for name, lengths in (("train", [5] * 20), ("test", [5] * 9 + [100])):
        write_texts(tmp_path / f"{name}.jsonl", lengths)
    task = f"jsonl:train={tmp_path}/train.jsonl,test={tmp_path}/test.jsonl"
    return ["evaluate", "--task", task, "--model", "average", "--train", "epochs=1", "--reference", "loo"]


def test_the_time_that_a_long_text_takes_is_shown_beforehand_in_one_line(
    cli: Any, home: Path, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = cli(*texts, "--metric", "kendall")
    assert code == 0
    assert "measuring takes about" not in err  # nothing here is long
    monkeypatch.setattr(time_estimate, "ENOUGH", 10_000)
    monkeypatch.setattr(time_estimate, "LONG_TEXT", 100)
    _, _, err = cli(*texts, "--metric", "kendall", "--fresh", "--seeds", "0-1")
    lines = [line for line in err.splitlines() if "measuring takes about" in line]
    assert len(lines) == 1
    assert re.search(r"about \d+ s here for each of 2 seeds, for up to \d+ thousand units", lines[0])
    assert "the longest example has 100 units" in lines[0]
    _, _, err = cli(*texts, "--metric", "nnz", "--fresh")  # which needs no pass but one
    assert "measuring takes about" not in err


class Slow(Metric):
    """Declares a thousand passes of every example, and takes half a second for it."""

    needs = ()
    family = "test"
    passes = 1000
    measures = (Measure("slow", "none", (0, 1)),)
    clock = 0.0

    def __call__(self, evidence: Evidence) -> Tensor:
        self.clock += 0.5 * len(evidence.trace.batch)
        return torch.zeros(len(evidence.trace.batch)).double()


@pytest.mark.parametrize("per_second", [1.0, 1e3])  # units: what is declared would take days, or 8 minutes
@pytest.mark.parametrize(("workers", "said"), [(1, " here, for"), (2, " here with 2 workers, for")])
def test_an_estimate_is_what_measuring_takes_and_not_what_is_declared(
    per_second: float,
    workers: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    slow, model = Slow(), ToyModel()
    alike = [example for example in toy_data().test if len(example.units) == 3]
    split = Split(model, alike * 150 * workers, torch.device("cpu"))
    monkeypatch.setattr(time_estimate, "time", SimpleNamespace(perf_counter=lambda: slow.clock))
    monkeypatch.setattr(time_estimate, "_units_per_second", lambda *_: per_second)
    tests = Tests(explanations=(Named("attention", Attention()),), metrics=(Named("slow", slow),))
    rows = np.arange(len(split) // 2)
    time_estimate.announce_duration(tests, model, split, rows, 1, Progress(), workers=workers)
    assert f"about {duration(0.5 * len(rows) / workers)}{said}" in capsys.readouterr().err
    assert slow.clock < 0.2 * 0.5 * len(rows)  # of which little is spent on the estimate


def test_what_a_trial_shows_to_be_short_is_not_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ToyModel()
    split = Split(model, toy_data().test * 100, torch.device("cpu"))
    monkeypatch.setattr(time_estimate, "time", SimpleNamespace(perf_counter=lambda: 0.0))
    monkeypatch.setattr(time_estimate, "_units_per_second", lambda *_: 1.0)
    tests = Tests(explanations=(Named("attention", Attention()),), metrics=(Named("slow", Slow()),))
    time_estimate.announce_duration(tests, model, split, None, 1, Progress())
    assert "takes about" not in capsys.readouterr().err
