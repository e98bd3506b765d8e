"""The most memory that a whole report takes: 200 sentences and a classifier of MiniLM's shape.

ours    the peak of a process of its own, with everything that it imports
peer    one gigabyte, which is the aim
"""

from __future__ import annotations

import subprocess
import sys

from .minilm import checkpoint, our_classifier, report
from .peak_memory import peak_so_far
from .peers import random_texts
from .timing import Row

SENTENCES = 200
AIM = 1000.0  # megabytes


def rows(tiny: bool = False) -> list[Row]:
    """One row, in megabytes."""
    if tiny:
        return [_row(2, _peak(2))]
    done = subprocess.run([sys.executable, "-m", __name__], capture_output=True, text=True, check=True)
    return [_row(SENTENCES, float(done.stdout))]


def _row(sentences: int, peak: float) -> Row:
    return Row(f"memory, whole report, MiniLM, {sentences} sentences", peak, AIM, 1.0, None, unit="MB")


def _peak(sentences: int) -> float:
    """Megabytes of this process so far, after a report on so many sentences."""
    with checkpoint() as (folder, _):
        report(our_classifier(folder), random_texts(sentences, 15, 25))
    return peak_so_far()


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    print(_peak(SENTENCES))
