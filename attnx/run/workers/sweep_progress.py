"""The progress of a sweep on stderr: a live table on a terminal, otherwise lines about cells and seeds."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from ...escaping import printable
from ...progress import Progress
from ...results.formatting import duration
from .sweep_estimate import Estimate

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

State = Literal["waiting", "training", "measuring", "done", "failed"]
ORDER: Sequence[State] = (
    "measuring",
    "training",
    "failed",
    "waiting",
    "done",
)  # on a small screen
STYLES: Mapping[State, str] = {"done": "green", "failed": "red", "waiting": "dim"}
BETWEEN = 1.0  # seconds between lines about cells where there is no terminal
QUIET = 30.0  # seconds without a line, after which a trained seed has one too


class SweepProgress:
    """How far every cell is, and how long the rest will take."""

    def __init__(
        self,
        titles: Sequence[str],
        seeds: Mapping[int, int],
        progress: Progress,
        estimate: Estimate,
        workers: int,
    ) -> None:
        self.titles, self.progress, self.estimate = titles, progress, estimate
        self.expected = estimate.seconds(seeds, workers)
        self.seeds = seeds  # how many are to be trained, in the cells that are not stored already
        self.trained = dict.fromkeys(seeds, 0)
        self.states: dict[int, State] = {
            cell: "waiting" if cell in seeds else "done" for cell in range(len(titles))
        }
        self.total = sum(
            count * self._weight(cell, training=True) + self._weight(cell, training=False)
            for cell, count in seeds.items()
        )
        self.ended = 0.0
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self._started = self._last_line = time.monotonic()
        if self.progress.mode == "live":
            from rich.live import Live

            from ...views.terminal.tables import screen

            self._live = Live(get_renderable=self.table, console=screen(stderr=True), transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def end(self, cell: int, *, training: bool, reason: str = "") -> None:
        """Record that training a seed or measuring a cell has ended, with the reason if it failed."""
        before = self.states[cell]
        self.ended += self._weight(cell, training)
        self.trained[cell] += training
        if reason:
            if training and before != "failed":
                self.total -= self._weight(cell, training=False)  # it will not be measured
            self.states[cell] = "failed"
        elif not training:
            self.states[cell] = "done"
        elif before != "failed":
            self.states[cell] = "measuring" if self.trained[cell] == self.seeds[cell] else "training"
        if self.states[cell] != before and self.states[cell] in ("done", "failed"):
            last = all(state in ("done", "failed") for state in self.states.values())
            always = bool(reason) or last
            self._print_line(cell, f"failed: {reason}" if reason else "done", 0.0 if always else BETWEEN)
        elif not reason:
            self._print_line(cell, self._state(cell), QUIET)
        if self._live:
            self._live.refresh()

    def _weight(self, cell: int, training: bool) -> float:
        """The part of a job in all the work, in seconds as far as they are known."""
        cost = self.estimate.cost(cell)
        return cost.training if training else cost.measuring * self.seeds[cell]

    def left(self) -> float | None:
        """Seconds to go, from the estimate until a job has ended; None without an estimate."""
        spent = time.monotonic() - self._started
        if not self.ended:
            return None if self.expected is None else max(0.0, self.expected - spent)
        return spent / self.ended * max(0.0, self.total - self.ended)

    def summary(self) -> str:
        """How many cells have ended, and how long the others will take."""
        counts = {state: list(self.states.values()).count(state) for state in ORDER}
        failed = f", {counts['failed']} failed" if counts["failed"] else ""
        left = self.left()
        going = counts["done"] + counts["failed"] < len(self.titles)
        about = f"; about {duration(left)} left" if going and left is not None else ""
        return f"{counts['done']} of {len(self.titles)} cells{failed}{about}"

    def table(self) -> Group:
        """The summary, and below it as many cells as fit, cells at work first."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        lines = max(3, self._live.console.height - 4) if self._live else len(self.titles)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        shown = sorted(sorted(self.states, key=lambda cell: ORDER.index(self.states[cell]))[:lines])
        for cell in shown:
            style = STYLES.get(self.states[cell], "")
            table.add_row(Text(printable(self.titles[cell])), Text(self._state(cell), style=style))
        if len(shown) < len(self.titles):
            table.add_row(Text(f"and {len(self.titles) - len(shown)} more", style="dim"), "")
        return Group(Text(self.summary(), style="bold"), table)

    def _state(self, cell: int) -> str:
        if self.states[cell] in ("training", "waiting"):
            return f"{self.trained[cell]} of {self.seeds[cell]} seeds trained"
        return "trained, to be measured" if self.states[cell] == "measuring" else self.states[cell]

    def _print_line(self, cell: int, outcome: str, after: float) -> None:
        """Print a line about a cell where there is no terminal, if the last one is this many seconds old."""
        now = time.monotonic()
        if self.progress.mode == "plain" and now - self._last_line >= after:
            self._last_line = now
            self.progress.say(f"{self.titles[cell]}: {outcome} ({self.summary()})")
