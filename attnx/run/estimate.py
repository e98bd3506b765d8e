"""How long a sweep will take, from a small trial of every pair of task and model in it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from ..data.access import Source
from ..host.catalog import Catalog
from ..progress import Progress
from ..report.numbers import duration
from ..request.grid import Cell
from ..request.plan import Plan
from ..request.resolve import resolve
from ..store.weights import Weights
from ..types import TaskData
from .evaluation import choose_device, run
from .executors import one_thread
from .loading import remembered
from .training import train
from .workshop import Workshop, seeded

T = TypeVar("T")
BATCHES, TESTED = 4, 16  # what a trial trains with, and measures
PATIENCE = 30.0  # seconds after which no further pair is tried


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that one worker takes for a cell."""

    training: float  # of one seed, all epochs
    measuring: float  # of one seed


@dataclass
class Estimate:
    """What cells are expected to take; those without a basis have none."""

    costs: dict[int, Cost] = field(default_factory=dict)
    tried: int = 0  # pairs of task and model
    untried: str = ""  # why a trial failed, the first of them
    stops_early: bool = False  # so that it is the most that training can take

    def cost(self, cell: int) -> Cost:
        """What a cell is expected to take, or all of them on average; without any basis all the same."""
        if cell in self.costs or not self.costs:
            return self.costs.get(cell, Cost(1.0, 1.0))
        known = self.costs.values()
        return Cost(
            sum(one.training for one in known) / len(known), sum(one.measuring for one in known) / len(known)
        )

    def seconds(self, seeds: Mapping[int, int], workers: int) -> float | None:
        """The time that so many workers take for these cells and seeds; None without any basis."""
        if not self.costs:
            return None
        costs = [(self.cost(cell), count) for cell, count in seeds.items()]
        work = sum(count * (cost.training + cost.measuring) for cost, count in costs)
        longest = max((cost.training + count * cost.measuring for cost, count in costs), default=0.0)
        return max(work / workers, longest)

    def told(self, seconds: float | None, workers: int) -> str:
        """The estimate in a line, with what it rests on."""
        if seconds is None:
            return f"no estimate of the time: {' '.join(self.untried.split())[:300]}"
        most = "at most about" if self.stops_early else "about"
        said = f"estimate: {most} {duration(seconds)} on {workers} worker{'s' * (workers > 1)}"
        pairs = f"{self.tried} pair{'s' * (self.tried > 1)} of task and model"
        return f"{said} once they have started, from a trial of {pairs} on this machine"


def estimate(cells: Mapping[int, Cell], catalog: Catalog, source: Source) -> Estimate:
    """Try every pair of task and model on a few examples, as long as there is patience for it."""
    found = Estimate()
    tried: dict[tuple[str, str], _Trial | None] = {}
    started = time.monotonic()
    loaded: tuple[str, TaskData] | None = None
    with one_thread():
        for number, cell in cells.items():
            plan = resolve(cell.asked, catalog)
            found.stops_early |= bool(plan.training.patience)
            pair = plan.task.label, plan.model.label
            if pair not in tried:
                if time.monotonic() - started > PATIENCE:
                    continue
                tried[pair] = None
                try:
                    if loaded is None or loaded[0] != pair[0]:
                        loaded = pair[0], remembered.load(plan, source)
                    tried[pair] = _try(cell, plan, loaded[1], catalog, source)
                    found.tried += 1
                except Exception as error:  # whatever it is, the cell itself will tell: this is a guess
                    found.untried = found.untried or f"{cell.title}: {error}"
            trial = tried[pair]
            if trial is not None:
                found.costs[number] = Cost(trial.epoch * plan.training.epochs, trial.measuring)
    return found


@dataclass(frozen=True, slots=True)
class _Trial:
    """Seconds of one epoch, and of measuring one seed."""

    epoch: float
    measuring: float


def _try(cell: Cell, plan: Plan, data: TaskData, catalog: Catalog, source: Source) -> _Trial:
    """Train a few batches of the model of all the data, and measure a few examples."""
    size = min(len(data.train), BATCHES * plan.training.batch_size)
    share = len(data.train) / size
    few = replace(
        data,
        train=_spread(data.train, size),
        dev=_spread(data.dev, max(8, round(len(data.dev) / share))),
        test=_spread(data.test, TESTED),
    )
    seed = cell.asked.seeds[0]
    once = {"seeds": (seed,), "training": {**cell.asked.training, "epochs": 1}}
    small = resolve(cell.asked.model_copy(update=once), catalog)
    with TemporaryDirectory() as folder, remembered.instead(small, source, few):
        weights, quiet = Weights(Path(folder)), Progress("off")
        report = run(small, "", source, weights, quiet, "none")
        device = choose_device(plan.spec.device)
        with seeded(seed):
            model = Workshop(data, device, weights, quiet).untrained(plan, seed)
            started = time.perf_counter()
            train(model, few, small.training, seed=seed, device=device, progress=quiet, label="trial")
            epoch = (time.perf_counter() - started) * share
    return _Trial(epoch, report.seconds["measuring"] * len(data.test) / len(few.test))


def _spread(examples: Sequence[T], count: int) -> tuple[T, ...]:
    """So many of these, evenly spread: files may be sorted by label or length."""
    step = max(1, len(examples) // count)
    return tuple(examples[::step][:count])
