"""How long a sweep will take, from a small trial of every pair of task and model in it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from ...host.catalog import Catalog
from ...progress import Progress
from ...request.grid import Cell
from ...request.resolve import resolve
from ...results.formatting import duration
from ...store.weights import Weights
from ..data_cache import data_cache
from ..device import choose_device
from ..evaluation import run
from ..training.loop import train
from ..training.models import TrainedModels, seeded
from .executors import one_thread
from .jobs import Job, at_home, prepared

T = TypeVar("T")
BATCHES, TESTED = 4, 16  # what a trial trains with, and measures
PATIENCE = 30.0  # seconds after which no further pair is tried


@dataclass(frozen=True, slots=True)
class CellCost:
    """Seconds that one worker takes for a cell."""

    training: float  # of one seed, all epochs
    measuring: float  # of one seed


@dataclass
class Estimate:
    """What cells are expected to take; those without a basis have none."""

    costs: dict[int, CellCost] = field(default_factory=dict)
    tried: int = 0  # pairs of task and model
    untried: str = ""  # why a trial failed, the first of them
    stops_early: bool = False  # so that it is the most that training can take

    def cost(self, cell: int) -> CellCost:
        """What a cell is expected to take, or all of them on average; without any basis all the same."""
        if cell in self.costs or not self.costs:
            return self.costs.get(cell, CellCost(1.0, 1.0))
        known = self.costs.values()
        return CellCost(
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
            why = self.untried or "no trial has ended yet"
            return f"no estimate of the time: {' '.join(why.split())[:300]}"
        said = f"estimate: about {duration(seconds)} on {workers} worker{'s' * (workers > 1)}"
        said += " unless training stops early" * self.stops_early
        pairs = f"{self.tried} pair{'s' * (self.tried > 1)} of task and model"
        return f"{said}, from a trial of {pairs} on {'them' if workers > 1 else 'it'}"


def estimate(
    units: Mapping[int, Job], cells: Sequence[Cell], catalog: Catalog, executor: Executor
) -> Estimate:
    """Have workers try every pair of task and model on a few examples, as long as there is patience for it.

    A unit of every cell says what workers need to know of it.
    """
    plans = {cell: resolve(cells[cell].asked, catalog) for cell in units}
    trials: dict[tuple[str, str], Future[Trial]] = {}
    found = Estimate(stops_early=any(plan.training.patience for plan in plans.values()))
    with suppress(BrokenExecutor):  # workers that die are replaced when the cells are carried out
        for cell, unit in units.items():
            pair = plans[cell].task.label, plans[cell].model.label
            if pair not in trials:
                trials[pair] = executor.submit(try_unit, unit)
    wait(trials.values(), timeout=PATIENCE)
    ended = {pair: trial for pair, trial in trials.items() if not trial.cancel() and trial.done()}
    for cell, plan in plans.items():
        trial = ended.get((plan.task.label, plan.model.label))
        if trial is None:
            continue
        error = trial.exception()
        if error is None:
            took = trial.result()
            found.costs[cell] = CellCost(took.epoch * plan.training.epochs, took.measuring)
        else:  # whatever it is, the cell itself will tell: this is a guess
            found.untried = found.untried or f"{cells[cell].title}: {error}"
    found.tried = sum(trial.exception() is None for trial in ended.values())
    return found


@dataclass(frozen=True, slots=True)
class Trial:
    """Seconds of one epoch, and of measuring one seed."""

    epoch: float
    measuring: float


def try_unit(unit: Job) -> Trial:
    """Train a few batches of the model of all the data, and measure a few examples, as a worker does."""
    with one_thread(), at_home(unit.setup):
        plan, source, _ = prepared(unit.spec, unit.software, unit.setup)
        data = data_cache.load(plan, source)
        size = min(len(data.train), BATCHES * plan.training.batch_size)
        share = len(data.train) / size
        few = replace(
            data,
            train=_spread(data.train, size),
            dev=_spread(data.dev, max(8, round(len(data.dev) / share))),
            test=_spread(data.test, TESTED),
        )
        seed = plan.spec.seeds[0]
        asked = plan.spec.model_copy(update={"seeds": (seed,)})
        once = replace(plan, spec=asked, training=plan.training.model_copy(update={"epochs": 1}))
        with TemporaryDirectory() as folder, data_cache.instead(once, source, few):
            weights, quiet = Weights(Path(folder)), Progress("off")
            report = run(once, "", source, weights, quiet, "none")
            device = choose_device(plan.spec.device)
            with seeded(seed):
                model = TrainedModels(data, device, weights, quiet).untrained(plan, seed)
                started = time.perf_counter()
                train(model, few, once.training, seed=seed, device=device, progress=quiet, label="trial")
                epoch = (time.perf_counter() - started) * share
    return Trial(epoch, report.seconds["measuring"] * len(data.test) / len(few.test))


def _spread(examples: Sequence[T], count: int) -> tuple[T, ...]:
    """So many of these, evenly spread: files may be sorted by label or length."""
    step = max(1, len(examples) // count)
    return tuple(examples[::step][:count])
