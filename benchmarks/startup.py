"""How long `attnx --help` and `attnx list` take, beside merely importing torch."""

from __future__ import annotations

import subprocess
import sys

from .timing import Row, best_of

HEAVY = ("torch", "scipy", "sklearn", "transformers")
REPEATS = 5


def rows() -> list[Row]:
    """Seconds of each command and of `import torch`; equal: no heavy module was imported."""
    peer = _seconds("import torch")
    measured = []
    for command in ("--help", "list"):
        code = f"import sys; sys.argv = ['attnx', '{command}']; from attnx.cli.app import main; main()"
        target = peer / 0.25  # a quarter of a second
        work = f"attnx {command}, against import torch"
        measured.append(Row(work, _seconds(code), peer, target, _light(command)))
    return measured


def _seconds(code: str) -> float:
    def run() -> None:
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)

    return best_of(REPEATS, {"code": run})["code"].seconds


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
