"""What the time of the most used commands goes to: `python -m benchmarks.profiles`.

Each command runs in a process of its own under Python's profiler, in seconds of the processor with one
thread. The profiler itself makes Python code up to twice as slow and compiled code no slower.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import runpy
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILMS = Path(__file__).parents[1] / "examples" / "films.csv"
TASK = f"csv:file={FILMS}"
COMMANDS = {
    "evaluate": ("evaluate", "--task", TASK, "--model", "bilstm-add"),
    "explain": ("explain", "a gripping and moving film", "--task", TASK, "--model", "bilstm-add"),
    "sweep": (
        *("sweep", "--task", TASK, "--model", "average-add", "--projection", "softmax"),
        *("--projection", "sparsemax", "--executor", "in-process"),
    ),
}
# Parts of a command that can be told apart by the function that begins them; a part may hold imports.
PARTS = {
    "importing": ("importlib._bootstrap>", "_find_and_load"),
    "training": ("run/training/loop.py", "train"),
    "measuring": ("run/measuring/measurement.py", "observe"),
    "explaining": ("run/explanation.py", "explain_examples"),
    "writing the page": ("attnx/results/rendering.py", "page_of"),
}
SHOWN = 8  # libraries


def profiled(name: str, home: Path) -> dict[Any, Any]:
    """The profile of a command: by (file, line, function) its calls, own and whole seconds, and callers."""
    out = home / f"{name}.profile"
    settings = os.environ | {"ATTNX_HOME": str(home / "home"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.profiles", "--one", str(out), *COMMANDS[name]]
    subprocess.run(command, env=settings, check=True, capture_output=True)
    return vars(pstats.Stats(str(out)))["stats"]  # type: ignore[no-any-return]


def by_library(stats: dict[Any, Any]) -> Counter[str]:
    """Own seconds of every library; compiled functions count for the library that calls them."""
    found: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in stats.items():
        if file != "~":
            found[_library(file)] += own
            continue
        for (caller, _, _), timed in callers.items():
            found[_library(caller)] += timed[2]
    return found


def by_part(stats: dict[Any, Any]) -> dict[str, float]:
    """Whole seconds of the parts that the command has."""
    found = {}
    for part, (file, function) in PARTS.items():
        seconds = [v[3] for (path, _, name), v in stats.items() if file in path and name == function]
        if seconds:
            found[part] = max(seconds)
    return found


def _library(file: str) -> str:
    """The library of a file: a package of site-packages, a part of attnx, or Python itself."""
    parts = Path(file).parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1].removesuffix(".py")
    if "plugins" in parts:
        return "attnx plugins"
    if "attnx" in parts:
        return "attnx"
    return "loading modules" if "importlib" in file else "Python's library"


def lines() -> Iterator[str]:
    """What the time of each command goes to, as rows of a table."""
    with tempfile.TemporaryDirectory() as folder:
        for name in COMMANDS:
            stats = profiled(name, Path(folder))
            libraries = by_library(stats)
            whole = sum(libraries.values())
            parts = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in by_part(stats).items())
            top = ", ".join(f"{lib} {seconds / whole:.0%}" for lib, seconds in libraries.most_common(SHOWN))
            yield f"| `{name}` | {whole:.1f} s | {parts} | {top} |"


def main() -> None:
    """Print them, or run one command under the profiler."""
    if sys.argv[1:2] == ["--one"]:
        _run_one(Path(sys.argv[2]), sys.argv[3:])
        return
    for line in lines():
        print(line, flush=True)


def _run_one(out: Path, command: list[str]) -> None:
    """Run a command as a person does, and write its profile."""
    profile = cProfile.Profile(time.process_time)
    sys.argv = ["attnx", *command]
    profile.enable()
    try:
        runpy.run_module("attnx", run_name="__main__")
    finally:
        profile.disable()
        profile.dump_stats(out)


if __name__ == "__main__":
    main()
