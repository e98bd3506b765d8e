"""`make bench`: every benchmark, ours next to a peer in one process, with what both must agree on."""

from __future__ import annotations

import importlib
import pkgutil
import platform
import sys
import time
from datetime import date
from types import ModuleType

import torch

import benchmarks

from .timing import Row

# Not benchmarks of two contestants: parts of others, and programs that are run by themselves.
OTHERS = {"__main__", "captum_peers", "commands", "growth", "one_by_one", "peers", "profiles", "timing"}
HEAD = f"{'work':<66} {'ours':>9} {'peer':>9} {'ratio':>7} {'target':>7} {'limit':>6}  same result"


def names() -> list[str]:
    """The benchmarks, each a module with a function `rows(tiny=False)`."""
    found = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    return [name for name in found if name not in OTHERS]


def load(name: str) -> ModuleType:
    """One of them."""
    return importlib.import_module(f"benchmarks.{name}")


def line(row: Row) -> str:
    """A row as it is printed, with the share of the rate of bare matrix products that ours reaches."""
    same = {True: "yes", False: "NO", None: "(a limit)"}[row.equal]
    limit = "" if row.limit is None else f"{row.limit / row.ours:.2f}"
    return (
        f"{row.work:<66} {row.ours:>8.4f}s {row.peer:>8.4f}s {row.ratio:>6.2f}x {row.target:>6.2f}x "
        f"{limit:>6}  {same}{'' if row.met else '  (below target)'}"
    )


def main() -> None:
    """Print one line per row of work; fail when two contestants computed different things."""
    wanted, known = sys.argv[1:], names()
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"error: no benchmark '{unknown[0]}'. There are: {', '.join(known)}.")
    torch.set_num_threads(1)
    print(f"{date.today()}, {_processor()}, torch {torch.__version__}, one thread; best of several")
    print("limit: seconds of the bare matrix products / ours; below target: ratio < target")
    print(HEAD, flush=True)
    started, different, below = time.perf_counter(), 0, 0
    for name in known:
        if wanted and name not in wanted:
            continue
        for row in load(name).rows():
            different += row.equal is False
            below += not row.met
            print(line(row), flush=True)
    minutes = (time.perf_counter() - started) / 60
    print(f"{minutes:.1f} minutes; {below} rows below target, {different} with different results")
    sys.exit(1 if different else 0)


def _processor() -> str:
    """The name of the processor, and its instructions as torch uses them."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = [text.split(":", 1)[1].strip() for text in file if text.startswith("model name")]
    except OSError:  # not Linux
        found = []
    return f"{found[0] if found else name} ({torch.backends.cpu.get_cpu_capability()})"


if __name__ == "__main__":
    main()
