"""`make bench`: every benchmark, ours next to a peer in one process, with what both must agree on.

A run of all of them is written to `benchmarks/measured.json`; `python -m benchmarks.page` puts it into
docs/performance.md. `python -m benchmarks --into FILE NAMES` writes some of them to a file of their own.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import platform
import sys
import time
import traceback
from datetime import date
from pathlib import Path
from types import ModuleType

import torch

import benchmarks

from . import profiles
from .measured import FILE, HEAD, Measured, line

# Not benchmarks of two contestants: parts of others, and programs that are run by themselves.
OTHERS = {
    "__main__", "captum_peers", "commands", "growth", "measured", "method_verdicts", "one_by_one", "page",
    "peak_memory", "peers", "profiles", "timing",
}  # fmt: skip


def names() -> list[str]:
    """The benchmarks, each a module with a function `rows(tiny=False)`."""
    found = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    return [name for name in found if name not in OTHERS]


def load(name: str) -> ModuleType:
    """One of them."""
    return importlib.import_module(f"benchmarks.{name}")


def main() -> None:
    """Print one line per row of work; fail where two contestants computed different things, or one failed."""
    wanted, known = sys.argv[1:], names()
    into = None if wanted else FILE
    if wanted[:1] == ["--into"]:
        into, wanted = Path(wanted[1]), wanted[2:]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"error: no benchmark '{unknown[0]}'. There are: {', '.join(known)}.")
    torch.set_num_threads(1)
    found = Measured(str(date.today()), _processor(), torch.__version__, load=os.getloadavg()[0])
    print(f"{found.conditions}, one thread; best of several")
    print("limit: seconds of the bare matrix products / ours; below target: ratio < target")
    print(HEAD, flush=True)
    started = time.perf_counter()
    failed = []
    for name in wanted or known:
        try:
            for row in load(name).rows():
                found.rows.setdefault(name, []).append(row)
                print(line(row), flush=True)
        except Exception:  # the others are measured all the same
            traceback.print_exc()
            failed.append(name)
        found.minutes[name] = round((time.perf_counter() - started) / 60 - sum(found.minutes.values()), 2)
    different = sum(row.equal is False for row in found.all_rows)
    below = sum(not row.met for row in found.all_rows)
    minutes = sum(found.minutes.values())
    print(f"{minutes:.1f} minutes; {below} rows below target, {different} with different results")
    if failed:
        print(f"These failed: {', '.join(failed)}.")
    if into is not None:
        found.profiles = [] if wanted else list(profiles.lines())
        found.write(into)
        print(f"Written to {into.name}; `python -m benchmarks.page` puts it into docs/performance.md.")
    sys.exit(1 if different or failed else 0)


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
