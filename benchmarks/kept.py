"""A second metric for an expensive method: its importances read, beside its importances computed.

LIME with 256 samples on a BiLSTM; the second run asks for another metric of the same texts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from unittest.mock import patch

import attnx

from .timing import Row, best_of

TASK = "sdc-text:train=200,dev=50,test={}"
TARGET = 5.0


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of the second run with and without what the first one kept; equal: the same numbers."""
    test, samples = (8, 8) if tiny else (300, 256)
    with _home():
        _evaluate(test, samples, "entropy", keep="4")  # trains, and keeps
        best = best_of(
            1 if tiny else 2,
            {
                "ours": lambda: _evaluate(test, samples, "comprehensiveness", keep="4"),
                "peer": lambda: _evaluate(test, samples, "comprehensiveness", keep="0"),
            },
        )
    same = best["ours"].result == best["peer"].result
    work = f"another metric for LIME, BiLSTM, {test} sentences / computed again"
    return [Row(work, best["ours"].seconds, best["peer"].seconds, 0.0 if tiny else TARGET, same)]


def _evaluate(test: int, samples: int, metric: str, *, keep: str) -> list[float | None]:
    with patch.dict(os.environ, {"ATTNX_KEEP_GB": keep}), TemporaryDirectory() as out:
        report = attnx.evaluate(
            TASK.format(test), "bilstm", explanations=f"lime:samples={samples}", metrics=metric,
            training={"epochs": 1}, progress=False, keep="values", out=out,
        )  # fmt: skip
    return [summary.mean for summary in report.summaries]


@contextmanager
def _home() -> Iterator[None]:
    with TemporaryDirectory() as folder, patch.dict(os.environ, {"ATTNX_HOME": folder}):
        yield
