"""Progress on stderr: live on a terminal, one line per long stage elsewhere, or silent."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

from .escaping import printable

LONG = 2.0  # seconds after which a stage deserves a line of its own
AGAIN = 20.0  # seconds between lines


class Step(Protocol):
    """Reports that some more parts of a stage are done."""

    def __call__(self, done: int = 1, note: str = "") -> None: ...


class Progress:
    """Shows on stderr how far the work is."""

    def __init__(self, mode: Literal["auto", "off"] = "auto") -> None:
        self.mode = mode if mode == "off" else "live" if sys.stderr.isatty() else "plain"

    def say(self, text: str) -> None:
        """Print a line, unless progress is off."""
        if self.mode != "off":
            print(printable(text), file=sys.stderr, flush=True)

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Step]:
        """Show one stage of `total` parts."""
        if self.mode == "live":
            with self._live(label, total) as step:
                yield step
        else:
            with self._plain(label, total) as step:
                yield step

    @contextmanager
    def _live(self, label: str, total: int) -> Iterator[Step]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            bar = bars.add_task(printable(label), total=total, note="")

            def step(done: int = 1, note: str = "") -> None:
                bars.update(bar, advance=done, note=printable(note))

            yield step

    @contextmanager
    def _plain(self, label: str, total: int) -> Iterator[Step]:
        so_far, last_note = 0, ""
        started = time.monotonic()
        last_line = started - AGAIN + LONG  # the first line comes as soon as the stage is a long one

        def step(done: int = 1, note: str = "") -> None:
            nonlocal last_line, so_far, last_note
            so_far, last_note = so_far + done, note
            if self.mode == "plain" and time.monotonic() - last_line > AGAIN:
                last_line = time.monotonic()
                self.say(f"{label}: {so_far}/{total} {note}".rstrip())

        yield step
        seconds = time.monotonic() - started
        if self.mode == "plain" and seconds > LONG:
            self.say(f"{label}: done in {seconds:.0f} s {last_note}".rstrip())
