"""How long a sweep will take, estimated from a small trial of every pair of task and model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from ...progress import Progress
from ...request.grid import Cell
from ...results.formatting import duration
from ...store.weights import Weights
from ..computation import compute_report
from ..data_cache import data_cache
from ..device import choose_device
from ..training.loop import train
from ..training.models import TrainedModels, seeded
from .executors import one_thread
from .jobs import KEPT, Job, at_home, prepared

T = TypeVar("T")
BATCHES, TESTED = 4, 16  # training batches and test examples of a trial
PATIENCE = 30.0  # seconds after which no more trials are waited for


@dataclass(frozen=True, slots=True)
class CellCost:
    """Seconds that one worker needs for a cell."""

    training: float  # one seed, all epochs; the mean over seeds, where stored weights cost nothing
    measuring: float  # one seed


@dataclass
class Estimate:
    """The expected costs of cells; cells without a trial have none."""

    costs: dict[int, CellCost] = field(default_factory=dict)
    tried: int = 0  # pairs of task and model
    error: str = ""  # why the first trial that failed did
    stops_early: bool = False  # training may: the estimate is then an upper bound

    def cost(self, cell: int) -> CellCost:
        """The expected cost of a cell, or the mean of the known costs; without any, 1 second each."""
        if cell in self.costs or not self.costs:
            return self.costs.get(cell, CellCost(1.0, 1.0))
        known = self.costs.values()
        return CellCost(
            sum(one.training for one in known) / len(known), sum(one.measuring for one in known) / len(known)
        )

    def seconds(self, seeds: Mapping[int, int], workers: int) -> float | None:
        """The time that so many workers need for these cells and seeds; None without any trial."""
        if not self.costs:
            return None
        costs = [(self.cost(cell), count) for cell, count in seeds.items()]
        work = sum(count * (cost.training + cost.measuring) for cost, count in costs)
        longest = max((cost.training + count * cost.measuring for cost, count in costs), default=0.0)
        return max(work / workers, longest)

    def sentence(self, seconds: float | None, workers: int) -> str:
        """The estimate in one line, with what it is based on."""
        if seconds is None:
            reason = self.error or "no trial has ended yet"
            return f"no time estimate: {' '.join(reason.split())[:300]}"
        about = f"estimate: about {duration(seconds)} on {workers} worker{'s' * (workers > 1)}"
        trains = any(cost.training for cost in self.costs.values())
        about += ", less if training stops early" * (self.stops_early and trains)
        pairs = f"{self.tried} pair{'s' * (self.tried > 1)} of task and model"
        return f"{about} (from a short trial of {pairs})"


def estimate(jobs: Mapping[int, Job], cells: Sequence[Cell], executor: Executor) -> Estimate:
    """Have workers try every pair of task and model on a few examples, for a limited time.

    There is one job for every cell. Seeds whose weights are stored need no training.
    """
    plans = {cell: cells[cell].plan for cell in jobs}
    trials: dict[tuple[str, str], Future[Trial]] = {}
    trained: dict[int, Future[float]] = {}
    result = Estimate(stops_early=any(plan.training.patience for plan in plans.values()))
    with suppress(BrokenExecutor):  # workers that die are replaced when the cells are carried out
        for cell, job in jobs.items():
            pair = plans[cell].task.label, plans[cell].model.label
            if pair not in trials:
                trials[pair] = executor.submit(try_job, job)
        trained = {cell: executor.submit(trained_share, job) for cell, job in jobs.items()}
    asked: list[Future[Any]] = [*trials.values(), *trained.values()]
    wait(asked, timeout=PATIENCE)
    shares = {cell: share.result() for cell, share in trained.items() if _has_result(share)}
    ended = {pair: trial for pair, trial in trials.items() if not trial.cancel() and trial.done()}
    for cell, plan in plans.items():
        trial = ended.get((plan.task.label, plan.model.label))
        if trial is None:
            continue
        error = trial.exception()
        if error is None:
            took = trial.result()
            epochs = plan.training.epochs * (1 - shares.get(cell, 0.0))
            result.costs[cell] = CellCost(took.epoch * epochs, took.measuring)
        else:  # the cell itself will fail with it, and report it
            result.error = result.error or f"{cells[cell].title}: {error}"
    result.tried = sum(trial.exception() is None for trial in ended.values())
    return result


def _has_result(future: Future[float]) -> bool:
    return not future.cancel() and future.done() and future.exception() is None


def trained_share(job: Job) -> float:
    """The share of a cell's seeds whose weights are stored where a worker looks for them."""
    data_cache.most = KEPT
    with one_thread(), at_home(job.setup):
        plan, source, _ = prepared(job.spec, job.software, job.setup)
        weights = Weights()
        models = TrainedModels(
            data_cache.load(plan, source), choose_device(plan.spec.device), weights, Progress("off")
        )
        names = [models.name(plan, seed) for seed in plan.spec.seeds]
    return sum(weights.has(name) for name in names) / len(names)


@dataclass(frozen=True, slots=True)
class Trial:
    """Seconds of one epoch, and of measuring one seed."""

    epoch: float
    measuring: float


def try_job(job: Job) -> Trial:
    """Train on a few batches and measure a few examples, as a worker does."""
    data_cache.most = KEPT
    with one_thread(), at_home(job.setup):
        plan, source, _ = prepared(job.spec, job.software, job.setup)
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
        with TemporaryDirectory() as folder, data_cache.replaced(once, source, few):
            weights, quiet = Weights(Path(folder)), Progress("off")
            report = compute_report(once, "", source, weights, quiet, "none", reuse=False)
            device = choose_device(plan.spec.device)
            with seeded(seed):
                model = TrainedModels(data, device, weights, quiet).untrained(plan, seed)
                started = time.perf_counter()
                train(model, few, once.training, seed=seed, device=device, progress=quiet, label="trial")
                epoch = (time.perf_counter() - started) * share
    return Trial(epoch, report.seconds["measuring"] * len(data.test) / len(few.test))


def _spread(examples: Sequence[T], count: int) -> tuple[T, ...]:
    """So many of these, evenly spread, because files may be sorted by label or length."""
    step = max(1, len(examples) // count)
    return tuple(examples[::step][:count])
