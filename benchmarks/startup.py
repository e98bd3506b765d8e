"""How long `attnx --help` and `attnx list` take, beside merely importing torch."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

HEAVY = ("torch", "scipy", "sklearn", "transformers")
REPEATS = 5


def rows() -> list[dict[str, Any]]:
    """Seconds of each command and of `import torch`; equal: no heavy module was imported."""
    peer = _seconds("import torch")
    measured = []
    for command in ("--help", "list"):
        code = f"import sys; sys.argv = ['attnx', '{command}']; from attnx.cli import main; main()"
        ours = _seconds(code)
        measured.append(
            {
                "work": f"attnx {command}, against import torch",
                "ours": ours,
                "peer": peer,
                "ratio": peer / ours,
                "target": peer / 0.25,  # a quarter of a second
                "equal": _light(command),
            }
        )
    return measured


def _seconds(code: str) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - started)
    return best


def _light(command: str) -> bool:
    code = (
        f"import sys; sys.argv = ['attnx', '{command}']\n"
        "from attnx.cli import main\n"
        "try: main()\n"
        f"except SystemExit: sys.exit(any(name in sys.modules for name in {HEAVY}))"
    )
    return (
        subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.DEVNULL).returncode == 0
    )
