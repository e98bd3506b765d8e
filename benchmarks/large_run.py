"""One run of many short texts through agreement and erasure: two one-thread workers, and one process.

ours    attnx evaluate --workers 2, whose workers measure shards of the test split
peer    attnx evaluate, one process with as many threads as there are cores

Neither keeps importances for later runs, which workers never do. Both run twice, in turns; the faster counts.

`python -m benchmarks.large_run 12500 25000 50000 100000` prints seconds, those of the processors, and the
most memory of a worker.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .commands import attnx
from .timing import Row

TEXTS = 20_000  # of much fewer, starting the workers is most of it
TURNS = 2
WORDS = [f"word{number}" for number in range(500)]
ASKED = (
    *("--model", "average-add", "--train", "epochs=3", "--sample", "all", "--keep", "values"),
    *("--explanation", "attention", "--explanation", "gradient", "--reference", "loo"),
    *("--metric", "kendall", "--metric", "comprehensiveness", "--metric", "sufficiency"),
)


@dataclass(frozen=True, slots=True)
class Large:
    """What a run took, and what it found."""

    seconds: float
    processor: float  # seconds of all processes together
    worker_memory: int  # bytes: the most that any worker held
    report: dict[str, Any]


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of two workers and of one process, all in all, and whether their reports agree."""
    with tempfile.TemporaryDirectory() as name:
        texts = 60 if tiny else TEXTS
        task = write_texts(Path(name), texts)
        run = run_tiny if tiny else run_large
        options = ("--executor", "in-process") if tiny else ("--workers", "2")
        turns = [
            (run(task, Path(name) / f"ours {turn}", *options), run(task, Path(name) / f"peer {turn}"))
            for turn in range(1 if tiny else TURNS)
        ]
        ours, peer = (min(of, key=lambda one: one.seconds) for of in zip(*turns, strict=True))
    work = f"{texts} short texts, agreement and erasure"
    # threads share such large products well: workers are for more machines, and must cost nothing on one
    return [Row(work, ours.seconds, peer.seconds, 1.0, _agree(ours.report, peer.report))]


def write_texts(folder: Path, count: int) -> str:
    """The task of so many test texts of 5 to 11 words, one of which decides the label."""
    draw = random.Random(0)
    for split, size in {"train": 400, "dev": 100, "test": count}.items():
        with (folder / f"{split}.jsonl").open("w", encoding="utf-8") as file:
            for _ in range(size):
                label = draw.randrange(2)
                words = draw.choices(WORDS, k=draw.randrange(5, 12))
                words[draw.randrange(len(words))] = ("dull", "gripping")[label]
                file.write(json.dumps({"text": " ".join(words), "label": label}) + "\n")
    return "jsonl:" + ",".join(f"{split}={folder / split}.jsonl" for split in ("train", "dev", "test"))


def run_large(task: str, home: Path, *options: str) -> Large:
    """Run it as a person does, and watch the memory of its workers."""
    command = [sys.executable, "-m", "attnx", "evaluate", "--task", task, *ASKED, *options, "--json"]
    cores = str(os.cpu_count() or 1)  # threads of a process without workers, whatever this one was given
    settings = {"ATTNX_HOME": str(home), "ATTNX_KEEP_GB": "0", "OMP_NUM_THREADS": cores}
    started, before = time.perf_counter(), _processor()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as told:
        process = subprocess.Popen(command, stdout=out, stderr=told, env=os.environ | settings)
        most = 0
        while process.poll() is None:
            most = max(most, *(_most_memory(worker) for worker in _workers(process.pid)), 0)
            time.sleep(0.1)
        seconds = time.perf_counter() - started
        out.seek(0)
        told.seek(0)
        if process.returncode:
            raise RuntimeError(told.read().decode())
        report = json.load(out)
    return Large(seconds, _processor() - before, most, report)


def run_tiny(task: str, home: Path, *options: str) -> Large:
    """Run it in this process, and watch nothing."""
    started, before = time.perf_counter(), time.process_time()
    said = attnx("evaluate", "--task", task, *ASKED, *options, "--json", home=home, tiny=True)
    return Large(time.perf_counter() - started, time.process_time() - before, 0, json.loads(said))


def _processor() -> float:
    """Seconds of processor time of all children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _workers(driver: int) -> list[str]:
    """The workers of a driver, which another process of its own has forked."""
    return [worker for parent in _children(driver) for worker in _children(parent)]


def _children(process: int | str) -> list[str]:
    found: list[str] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += file.read_text().split()
        except OSError:  # it has just ended
            continue
    return found


def _most_memory(process: str) -> int:
    """The most that a process has held so far, in bytes."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def _agree(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two reports have the same means: with other threads sums are rounded in another order."""
    pairs = zip(one["summaries"], other["summaries"], strict=True)
    return all(abs((a["mean"] or 0.0) - (b["mean"] or 0.0)) < 1e-3 for a, b in pairs)


def main() -> None:
    """Print a line for every size."""
    print(f"{'texts':>8} {'seconds':>8} {'processor':>10} {'memory of a worker':>20}")
    for size in map(int, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as name:
            found = run_large(write_texts(Path(name), size), Path(name) / "home", "--workers", "2")
        memory = f"{found.worker_memory / 2**20:.0f} MB"
        print(f"{size:>8} {found.seconds:>8.1f} {found.processor:>10.1f} {memory:>20}", flush=True)


if __name__ == "__main__":
    main()
