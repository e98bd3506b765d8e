"""Whole commands from start to end, in seconds of CPU, beside what each may take.

The commands do almost nothing: what is measured is what every run pays before and after its work.
"""

from __future__ import annotations

import resource
from pathlib import Path
from tempfile import TemporaryDirectory

from .commands import attnx
from .timing import Row

EVALUATE = "evaluate --task sdc-text --model bilstm --limit train=200,dev=50,test=20 --train epochs=1"
AT_MOST = {"--help": 0.15, "list": 0.15, EVALUATE: 5.0, "explain --run {run} a-fine-film": 3.0}


def rows(tiny: bool = False) -> list[Row]:
    """One row for each command; the peer is the most that it may take."""
    measured = []
    with TemporaryDirectory() as home:
        for command, most in AT_MOST.items():
            words = command.split()
            if "{run}" in words:
                (run,) = [path.name for path in (Path(home) / "runs").glob("[!.]*")]
                words[words.index("{run}")] = run
            repeats = 1 if tiny or command == EVALUATE else 3
            seconds = min(_seconds(words, Path(home), tiny) for _ in range(repeats))
            work = f"attnx {words[0]}, tiny: CPU / at most"
            measured.append(Row(work, seconds, most, 0.0 if tiny else 1.0, None))
    return measured


def _seconds(arguments: list[str], home: Path, tiny: bool) -> float:
    """Seconds of CPU of the command and all that it starts."""
    before = _used()
    attnx(*arguments, home=home, tiny=tiny, settings={"OMP_NUM_THREADS": "1"})
    return _used() - before


def _used() -> float:
    mine, of_children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in (mine, of_children))
