"""What takes long is announced before it starts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from attnx.run.measuring import time_estimate


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
    assert "measuring sends" not in err  # nothing here is long
    monkeypatch.setattr(time_estimate, "ENOUGH", 10_000)
    monkeypatch.setattr(time_estimate, "LONG_TEXT", 100)
    _, _, err = cli(*texts, "--metric", "kendall", "--fresh", "--seeds", "0-1")
    lines = [line for line in err.splitlines() if "measuring sends" in line]
    assert len(lines) == 1
    assert re.search(r"about 0 million units .* for each of 2 seeds, at most \d+ s here", lines[0])
    assert "the longest example has 100 units" in lines[0]
    _, _, err = cli(*texts, "--metric", "nnz", "--fresh")  # which needs no pass but one
    assert "measuring sends" not in err
