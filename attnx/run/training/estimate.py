"""An estimate of how long training will take, said after its first seconds if that is long."""

from __future__ import annotations

import time
from typing import Final

from ...progress import Progress, span

ENOUGH: Final = 2.0  # seconds of training to judge by
LONG: Final = 60.0  # seconds: less needs no estimate


class TrainingEstimate:
    """Says once how long a training takes, from how long its first examples took."""

    def __init__(self, progress: Progress, label: str, examples: int) -> None:
        self._progress, self._label, self._examples = progress, label, examples
        self._done, self._said = 0, False
        self._started = time.monotonic()

    def add(self, done: int) -> None:
        """So many more examples were trained on."""
        self._done += done
        seconds = time.monotonic() - self._started
        if self._said or seconds < ENOUGH:
            return
        self._said = True
        whole = seconds / self._done * self._examples
        if whole >= LONG:
            self._progress.say(f"{self._label} takes about {span(whole)} here, or less if it ends early")
