"""A sweep of eight cells: two models, two projections and two learning rates.

ours    attnx sweep --workers 2: two one-thread processes
peer    1. one process with two threads that carries out the cells
        2. the cells one by one: an attnx evaluate for each
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from unittest.mock import patch

from .commands import attnx
from .timing import Row

Cell = tuple[str, str, str]  # model, projection, learning rate

TASK = "sdc-text:train=1600,dev=100,test=800"
TINY = "sdc-text:train=40,dev=10,test=10"
MODELS = ("mlp-add", "cnn-small")
PROJECTIONS = ("softmax", "sparsemax")
RATES = ("0.001", "0.005")
METRICS = ("kendall", "comprehensiveness", "sufficiency")
TOLERANCE = 0.02  # with other threads sums are rounded in another order, and training goes its own way

THREADS = 2  # of the process that carries out all cells


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of a sweep and of its peers, and whether all found the same accuracies and means."""
    grid = [values[:1] if tiny else values for values in (MODELS, PROJECTIONS, RATES)]
    cells: list[Cell] = list(product(*grid))
    task = TINY if tiny else TASK
    with tempfile.TemporaryDirectory() as name:
        homes = {who: Path(name) / who for who in ("sweep", "process", "one by one")}
        workers = ("--executor", "in-process") if tiny else ("--workers", "2")
        sweep = _timed(lambda: attnx("sweep", *_asked(task, *grid), *workers, home=homes["sweep"], tiny=tiny))
        process = _timed(lambda: _in_one_process(task, cells, homes["process"], tiny))

        def evaluate_each() -> None:
            for cell in cells:
                asked = _asked(task, *((value,) for value in cell))
                attnx("evaluate", "--keep", "values", *asked, home=homes["one by one"], tiny=tiny)

        one_by_one = _timed(evaluate_each)
        found = {who: _found(home) for who, home in homes.items()}
    work = f"sweep of {len(cells)} cells"
    same = {who: _agree(found["sweep"], found[who], len(cells)) for who in ("process", "one by one")}
    return [
        Row(f"{work}, one process of two threads", sweep, process, 1.3, same["process"]),
        Row(f"{work}, one by one", sweep, one_by_one, 2.0, same["one by one"]),
    ]


def _asked(task: str, models: Sequence[str], projections: Sequence[str], rates: Sequence[str]) -> list[str]:
    asked = ["--task", task]
    for option, values in (("--model", models), ("--projection", projections), ("--metric", METRICS)):
        asked += [text for value in values for text in (option, value)]
    return asked + [text for rate in rates for text in ("--train", f"epochs=10,learning_rate={rate}")]


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _in_one_process(task: str, cells: Sequence[Cell], home: Path, tiny: bool) -> None:
    """Carry out the cells one after the other, with two threads."""
    if tiny:
        with patch.dict(os.environ, {"ATTNX_HOME": str(home)}):
            _carry_out(task, cells)
        return
    code = "import sys, json, torch; from benchmarks.sweeping import THREADS, _carry_out; "
    code += "torch.set_num_threads(THREADS); _carry_out(*json.loads(sys.argv[1]))"
    subprocess.run(
        [sys.executable, "-c", code, json.dumps([task, cells])],
        env={**os.environ, "ATTNX_HOME": str(home)},
        check=True,
        capture_output=True,
    )


def _carry_out(task: str, cells: Sequence[Cell]) -> None:
    from attnx import evaluate

    for model, projection, rate in cells:
        training = {"epochs": 10, "learning_rate": float(rate)}
        evaluate(
            task,
            model,
            projection=projection,
            metrics=METRICS,
            training=training,
            progress=False,
            keep="values",
        )


def _found(home: Path) -> dict[str, list[float]]:
    """The accuracy and all means of every cell, by what it is."""
    found = {}
    for file in (home / "runs").glob("[!.]*/report.json"):
        report = json.loads(file.read_text(encoding="utf-8"))
        spec = report["spec"]
        cell = json.dumps([report["labels"], spec["training"]], sort_keys=True)
        means = [summary["mean"] or 0.0 for summary in report["summaries"] if summary["predicted"] is None]
        found[cell] = [report["quality"][0]["accuracy"], *means]
    return found


def _agree(ours: dict[str, list[float]], theirs: dict[str, list[float]], cells: int) -> bool:
    if len(ours) != cells or ours.keys() != theirs.keys():
        return False
    pairs = [pair for cell in ours for pair in zip(ours[cell], theirs[cell], strict=True)]
    return all(abs(a - b) < TOLERANCE for a, b in pairs)
