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
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from .timing import Row

TASK = "sdc-text:train=1600,dev=100,test=800"
TINY = "sdc-text:train=40,dev=10,test=10"
MODELS = ("mlp-add", "cnn-small")
PROJECTIONS = ("softmax", "sparsemax")
RATES = ("0.001", "0.005")
METRICS = ("kendall", "comprehensiveness", "sufficiency")
TOLERANCE = 0.02  # with other threads sums are rounded in another order, and training goes its own way

IN_ONE_PROCESS = """
import json, sys, torch, attnx
torch.set_num_threads(2)
task, cells, metrics = json.loads(sys.argv[1])
for model, projection, rate in cells:
    attnx.evaluate(task, model, projection=projection, metrics=metrics, progress=False, keep="values",
                   training={"epochs": 10, "learning_rate": rate})
"""


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of a sweep and of its peers, and whether all found the same accuracies and means."""
    grid = [values[:1] if tiny else values for values in (MODELS, PROJECTIONS, RATES)]
    cells, task = list(product(*grid)), TINY if tiny else TASK
    with tempfile.TemporaryDirectory() as name:
        homes = {who: Path(name) / who for who in ("sweep", "process", "one by one")}
        sweep = _timed(homes["sweep"], [("attnx", "sweep", *_asked(task, *grid), "--workers", "2")])
        given = json.dumps([task, cells, METRICS])
        process = _timed(homes["process"], [("-c", IN_ONE_PROCESS, given)])
        one_by_one = _timed(
            homes["one by one"],
            [("attnx", "evaluate", "--keep", "values", *_asked(task, (m,), (p,), (r,))) for m, p, r in cells],
        )
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


def _timed(home: Path, commands: Sequence[tuple[str, ...]]) -> float:
    started = time.perf_counter()
    for command in commands:
        start = [sys.executable, *(["-m"] if command[0] == "attnx" else [])]
        subprocess.run(
            [*start, *command], env=os.environ | {"ATTNX_HOME": str(home)}, check=True, capture_output=True
        )
    return time.perf_counter() - started


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
