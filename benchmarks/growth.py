"""How time and memory grow with texts, their length, labels and runs: `python -m benchmarks.growth`.

Each case is a process of its own, whose progress is shown; memory is its peak, of which some 300 MB are
the libraries. What was found is kept in `benchmarks/growth.json`, from which `python -m benchmarks.page`
makes a table.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("growth.json")
SHORT = 20  # words of a short text
MODEL = "bilstm:embedding=64,hidden=64,boundaries=false"


def write_texts(path: Path, count: int, longest: int = 0, labels: int = 2) -> None:
    """Short texts in two classes that words tell apart, and maybe a long one."""
    with path.open("w") as file:
        for number in range(count):
            words = longest if longest and number == 0 else SHORT
            text = " ".join(f"w{(number * 7 + word) % 997}" for word in range(words))
            file.write(
                json.dumps({"text": f"{text} label{number % labels}", "label": f"l{number % labels}"}) + "\n"
            )


def evaluate(folder: Path, count: int, longest: int = 0, labels: int = 2, **asked: Any) -> None:
    """Train for an epoch and measure; the long text is in train and in test."""
    import attnx

    for name, size in (("train", count), ("test", max(200, count // 10))):
        write_texts(folder / f"{name}.jsonl", size, longest, labels)
    asked = {"metrics": ["nnz"], "sample": "all", **asked}
    attnx.evaluate(
        f"jsonl:train={folder}/train.jsonl,test={folder}/test.jsonl,max_length=0",
        MODEL,
        training={"epochs": 1},
        keep="values",
        **asked,
    )


def measured(folder: Path, count: int, train: int = 1000) -> None:
    """So many test texts, all of them measured: leave-one-out, its agreement with attention, two removals."""
    import attnx

    for name, size in (("train", train), ("test", count)):
        write_texts(folder / f"{name}.jsonl", size)
    attnx.evaluate(
        f"jsonl:train={folder}/train.jsonl,test={folder}/test.jsonl,max_length=0",
        "average-add",
        training={"epochs": 1},
        references=["loo"],
        metrics=["kendall", "comprehensiveness", "sufficiency"],
        sample="all",
        keep="values",
    )


def leave_one_out(folder: Path, longest: int) -> None:
    """A text of so many words and a few short ones: each of its words is left out once."""
    evaluate(folder, 200, longest, references=["loo"], metrics=["kendall"])


def sampled(folder: Path, words: int) -> None:
    """A thousand texts to train, 200 to test, all of so many words; the sample is what a run takes."""
    global SHORT
    SHORT = words
    evaluate(folder, 1000, references=["loo"], metrics=["kendall"], sample="auto")


def permute(folder: Path, longest: int) -> None:
    """The same text under a hundred other attentions."""
    evaluate(folder, 200, longest, metrics=["permutation"])


def list_runs(folder: Path, count: int) -> None:
    """The list of so many runs when all was read before."""
    import attnx
    from attnx.cli.app import main
    from attnx.progress import Progress
    from attnx.store.runs import Runs

    asked: dict[str, Any] = {"training": {"epochs": 1}, "progress": False, "keep": "none"}
    report = attnx.evaluate("sdc-2d:train=8,dev=4,test=4", metrics=["nnz"], **asked)
    os.environ["ATTNX_HOME"] = str(folder / "many")
    type(report).to_html = lambda *_: ""  # type: ignore[method-assign]  # the list reads no page
    with Progress().stage("writing runs", count) as step:
        for number in range(count):
            Runs().write(report.model_copy(update={"fingerprint": f"{number:016x}"}))
            step()
    for turn in ("first", "again"):
        started = time.perf_counter()
        sys.argv = ["attnx", "runs", "--json", "--last", "1"]
        with contextlib.suppress(SystemExit):
            main()
        print(f"{turn} {time.perf_counter() - started:.2f} s", file=sys.stderr)


CASES: dict[str, Callable[[Path], None]] = {
    "texts 1000": lambda folder: evaluate(folder, 1000),
    "texts 4000": lambda folder: evaluate(folder, 4000),
    "texts 16000": lambda folder: evaluate(folder, 16_000),
    "texts 100000": lambda folder: evaluate(folder, 100_000),
    "texts to measure 1000": lambda folder: measured(folder, 1000),
    "texts to measure 10000": lambda folder: measured(folder, 10_000),
    "texts to measure 100000": lambda folder: measured(folder, 100_000),
    "words 20, loo on a sample": lambda folder: sampled(folder, 20),
    "words 200, loo on a sample": lambda folder: sampled(folder, 200),
    "words 2000, loo on a sample": lambda folder: sampled(folder, 2000),
    "texts 16000, one of 20000 words": lambda folder: evaluate(folder, 16_000, 20_000),
    "labels 10": lambda folder: evaluate(folder, 4000, labels=10),
    "labels 1000": lambda folder: evaluate(folder, 4000, labels=1000),
    "loo, longest 1000": lambda folder: leave_one_out(folder, 1000),
    "loo, longest 2500": lambda folder: leave_one_out(folder, 2500),
    "loo, longest 5000": lambda folder: leave_one_out(folder, 5000),
    "loo, longest 10000": lambda folder: leave_one_out(folder, 10_000),
    "permutation, longest 5000": lambda folder: permute(folder, 5000),
    "permutation, longest 20000": lambda folder: permute(folder, 20_000),
    "runs 5000": lambda folder: list_runs(folder, 5000),
}


@dataclass(frozen=True, slots=True)
class Grown:
    """What a case took."""

    seconds: float
    cpu: float  # seconds of the processor
    megabytes: float  # the most memory


def read(file: Path) -> dict[str, Grown]:
    """What was measured, by case."""
    return {name: Grown(**found) for name, found in json.loads(file.read_text(encoding="utf-8")).items()}


def main() -> None:
    """Measure every case, or those whose names begin as said, and keep what was found in a file."""
    if "--case" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["ATTNX_HOME"] = folder
            started = time.perf_counter()
            CASES[sys.argv[-1]](Path(folder))
            used = resource.getrusage(resource.RUSAGE_SELF)
            seconds = time.perf_counter() - started
        found = Grown(round(seconds, 1), round(used.ru_utime + used.ru_stime, 1), round(used.ru_maxrss / 1e3))
        print(json.dumps(asdict(found)))
        return
    for name in CASES:
        if not sys.argv[1:] or name.startswith(tuple(sys.argv[1:])):
            before = read(FILE).get(name)
            took = f"took {before.cpu:.0f} s of the processor before" if before else "was not measured before"
            print(f"{name}: {took}", file=sys.stderr, flush=True)
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.growth", "--case", name],
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            last = done.stdout.splitlines()[-1]  # after what the case itself prints
            known = {one: asdict(of) for one, of in read(FILE).items()} | {name: json.loads(last)}
            ordered = {case: known[case] for case in CASES if case in known}
            FILE.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
            print(f"{name}: {last}", flush=True)


if __name__ == "__main__":
    main()
