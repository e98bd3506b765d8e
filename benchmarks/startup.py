"""How long `attnx --help` and `attnx list` take, beside merely importing torch."""

from __future__ import annotations

import subprocess
import sys
import time

from .timing import Row

HEAVY = ("torch", "scipy", "sklearn", "transformers")
REPEATS = 5


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of each command and of `import torch`; equal: no heavy module was imported."""
    repeats = 1 if tiny else REPEATS
    peer = _seconds("import torch", repeats)
    measured = []
    for command in ("--help", "list"):
        code = f"import sys; sys.argv = ['attnx', '{command}']; from attnx.cli.app import main; main()"
        target = peer / 0.25  # a quarter of a second
        work = f"attnx {command}, against import torch"
        measured.append(Row(work, _seconds(code, repeats), peer, target, _light(command)))
    return measured


def _seconds(code: str, repeats: int) -> float:
    """Of the clock, because it is another process that works."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - started)
    return best


def _light(command: str) -> bool:
    code = (
        f"import sys; sys.argv = ['attnx', '{command}']\n"
        "from attnx.cli.app import main\n"
        "try: main()\n"
        f"except SystemExit: sys.exit(any(name in sys.modules for name in {HEAVY}))"
    )
    return (
        subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.DEVNULL).returncode == 0
    )
