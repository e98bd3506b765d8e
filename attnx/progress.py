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
AT_ONCE = 0.2  # seconds: what is reported before was done by an earlier process


class Step(Protocol):
    """Reports that some more parts of a stage are done, or about which share of all."""

    def __call__(self, done: int = 1, note: str = "", share: float = 0.0) -> None: ...


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
            TextColumn("{task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        pace = Pace(total)
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            bar = bars.add_task(printable(label), total=total, note="", rate="")

            def step(done: int = 1, note: str = "", share: float = 0.0) -> None:
                pace.add(done, share)
                bars.update(bar, completed=pace.reached, note=printable(note), rate=pace.rate)

            yield step

    @contextmanager
    def _plain(self, label: str, total: int) -> Iterator[Step]:
        last_note = ""
        pace = Pace(total)
        last_line = pace.started - AGAIN + LONG  # the first line comes as soon as the stage is a long one

        def step(done: int = 1, note: str = "", share: float = 0.0) -> None:
            nonlocal last_line, last_note
            last_note = note
            pace.add(done, share)
            if self.mode == "plain" and time.monotonic() - last_line > AGAIN:
                last_line = time.monotonic()
                left = "".join(f", {part}" for part in (pace.rate, pace.left) if part)
                self.say(f"{label}: {pace.reached:.0f}/{total}{left} {note}".rstrip())

        yield step
        seconds = time.monotonic() - pace.started
        if self.mode == "plain" and seconds > LONG:
            self.say(f"{label}: done in {seconds:.0f} s {last_note}".rstrip())


class Pace:
    """How fast a stage goes, and how long the rest takes at that rate."""

    def __init__(self, total: int) -> None:
        self.started = time.monotonic()
        self.reached = 0.0  # parts that are done, or about so many
        self._total, self._done, self._found = total, 0, 0.0

    def add(self, done: int, share: float) -> None:
        """Count parts that are done; `share` is about how much of everything is, where that is known."""
        self._done += done
        self.reached = max(float(self._done), min(1.0, share) * self._total)
        if time.monotonic() - self.started < AT_ONCE:  # an earlier process did these
            self._found = float(self._done)

    @property
    def per_second(self) -> float:
        """Parts per second; 0 where nothing is known yet."""
        seconds = time.monotonic() - self.started
        return max(0.0, self.reached - self._found) / seconds if seconds >= AT_ONCE else 0.0

    @property
    def rate(self) -> str:
        """The rate in words; empty where nothing is known yet."""
        each = self.per_second
        return f"{each:.3g}/s" if 0 < each < 100 else f"{each:.0f}/s" if each else ""

    @property
    def left(self) -> str:
        """The time that is left in words; empty where nothing is known yet, or nothing is left."""
        each, rest = self.per_second, self._total - self.reached
        return f"about {span(rest / each)} left" if each and rest > 0 else ""


def span(seconds: float) -> str:
    """A length of time as people say it: seconds below two minutes, minutes below two hours, then hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"
