"""Where jobs are carried out: in this process, in worker processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

from ...errors import AttnxWarning, UsageError, did_you_mean
from .dask_cluster import NOBODY, Trust, check_trust, dask_executor
from .main_guard import main_is_unguarded
from .processes import WorkerProcesses

ExecutorName = Literal["in-process", "local", "dask"]
EXECUTORS: tuple[ExecutorName, ...] = get_args(ExecutorName)
J = TypeVar("J", bound=Hashable)
TRIES = 3  # of a job whose worker died
EVERY = 1.0  # seconds between what is done while workers are at work
SMALL = 12  # training runs: so few take less time in this process than worker processes take to start


@dataclass(frozen=True, slots=True)
class Workers:
    """Which executor does the work, and with how many workers."""

    kind: ExecutorName = "local"
    count: int = 0  # 0: one per core
    scheduler: str = ""  # address of a Dask scheduler; empty: a cluster on this machine
    trust: Trust = NOBODY  # why the scheduler may be connected to

    @property
    def number(self) -> int:
        """How many workers there are, as far as it is known; a cluster elsewhere has at least two."""
        if self.kind == "in-process":
            return 1
        return self.count or (2 if self.scheduler else os.cpu_count() or 1)

    @property
    def computing(self) -> int:
        """How many of them compute at the same time: on this machine no more than it has cores."""
        cores = os.cpu_count() or 1
        return self.number if self.scheduler else min(self.number, cores)

    @property
    def at_once(self) -> int:
        """How many jobs are handed over at a time.

        If a worker process of this machine dies, all jobs that were handed over are lost and nobody knows
        which one caused it, so no more are handed over than there are workers. A Dask scheduler knows, and
        gets all jobs so that it can share them out.
        """
        return sys.maxsize if self.kind == "dask" else self.number

    @property
    def starts_processes(self) -> bool:
        """Whether worker processes are started here, which import the main module of this one."""
        return self.kind == "local" or (self.kind == "dask" and not self.scheduler)

    @contextmanager
    def open(self) -> Iterator[Executor]:
        """An executor, closed whatever happens."""
        if self.kind == "in-process":
            opened = _in_process()
        elif self.kind == "local":
            opened = _local(self.number)
        else:
            opened = dask_executor(self.scheduler, self.number, self.trust)
        with opened as executor:
            yield executor

    @contextmanager
    def started(self) -> Iterator[OpenWorkers]:
        """Workers that stay; processes of this machine start before there is work for them."""
        with ExitStack() as stack:
            workers = OpenWorkers(self, stack)
            if self.kind == "local":
                workers.start()
            yield workers


class OpenWorkers:
    """Workers that stay from one piece of work to the next, and are replaced if they have died."""

    def __init__(self, workers: Workers, stack: ExitStack) -> None:
        self.workers, self._stack = workers, stack.enter_context(ExitStack())
        self.at_once = workers.at_once
        self._executor: Executor | None = None

    def start(self) -> Executor:
        """The executor that is open, or a new one."""
        if self._executor is None or _dead(self._executor):
            self._stack.close()  # those workers that live, and wait for jobs
            self._executor = self._stack.enter_context(self.workers.open())
        return self._executor

    @contextmanager
    def open(self) -> Iterator[Executor]:
        """The executor, which stays open."""
        yield self.start()


def _dead(executor: Executor) -> bool:
    if isinstance(executor, WorkerProcesses):
        return executor.died
    try:
        executor.submit(int).result()
    except BrokenExecutor:
        return True
    return False


def choose_workers(
    executor: str | None,
    count: int | None,
    scheduler: str = "",
    trust: Trust = NOBODY,
    *,
    default: ExecutorName = "local",
) -> Workers:
    """The workers that a person asks for; whatever is not given follows from the rest.

    In a script that worker processes would run again when they start, the work is done in this process.

    Args:
        executor: one of EXECUTORS; None: dask with a scheduler, local with a count, else the default.
        count: how many workers; 0 or None: one per core.
        scheduler: the address of a Dask scheduler.
        trust: why it may be connected to.
        default: the executor if nothing is given.
    """
    if executor is not None and executor not in EXECUTORS:
        known = ", ".join(EXECUTORS)
        raise UsageError(f"Unknown executor '{executor}'.{did_you_mean(executor, EXECUTORS)} Known: {known}.")
    inferred: ExecutorName = "dask" if scheduler else default if count is None else "local"
    kind = next((name for name in EXECUTORS if name == executor), inferred)
    if scheduler and kind != "dask":
        raise UsageError(f"The executor '{kind}' has no scheduler: leave it out, or use the executor dask.")
    if kind == "in-process" and (count or 0) > 1:
        raise UsageError(f"The executor 'in-process' has one worker, not {count}: choose the executor local.")
    check_trust(scheduler, trust)
    workers = Workers(kind, 0 if kind == "in-process" else count or 0, scheduler, trust)
    if workers.starts_processes and main_is_unguarded():
        warnings.warn(
            "No worker processes are started, because each would run this script again: the work is done in "
            "this process. To use workers, put the call below: if __name__ == '__main__':",
            AttnxWarning,
            stacklevel=3,
        )
        return Workers("in-process")
    return workers


def choose_run_workers(
    executor: str | None, count: int | None, scheduler: str = "", trust: Trust = NOBODY
) -> Workers | None:
    """The workers that a person asks for a single run; None if nothing is given."""
    if executor is None and count is None and not scheduler:
        check_trust(scheduler, trust)
        return None
    return choose_workers(executor, count, scheduler, trust)


@dataclass(frozen=True, slots=True)
class FinishedJob(Generic[J]):
    """A job that has ended, with its result or its error."""

    job: J
    result: Any = None
    error: BaseException | None = None


def run_jobs(
    workers: Workers | OpenWorkers,
    work: Callable[[J], Any],
    jobs: Iterable[J],
    then: Callable[[FinishedJob[J]], Iterable[J]],
    meanwhile: Callable[[], None] | None = None,
) -> Iterator[FinishedJob[J]]:
    """Carry out jobs, and those that follow from their results; yield each as it ends.

    A job whose worker died is tried again: the system or a person may have ended the worker. What is to be
    done `meanwhile` is done about every second while workers are at work.
    """
    waiting, deaths = deque(jobs), Counter[J]()
    while waiting:
        with workers.open() as executor:
            futures: dict[Future[Any], J] = {}
            broken = False
            while futures or (waiting and not broken):
                while waiting and not broken and len(futures) < workers.at_once:
                    broken = not _submitted(executor, work, waiting, futures)
                ended = wait(futures, EVERY if meanwhile else None, FIRST_COMPLETED).done
                if meanwhile and not ended:
                    meanwhile()
                for future in ended:
                    finished = _finished(future, futures.pop(future))
                    if isinstance(finished.error, BrokenExecutor):
                        broken = True
                        deaths[finished.job] += 1
                        if deaths[finished.job] < TRIES:
                            waiting.append(finished.job)
                            continue
                    waiting.extendleft(then(finished))  # a cell that was begun is completed first
                    yield finished


def _submitted(
    executor: Executor, work: Callable[[J], Any], waiting: deque[J], futures: dict[Future[Any], J]
) -> bool:
    """Hand over the next job; False if the workers have died meanwhile."""
    try:
        futures[executor.submit(work, waiting[0])] = waiting[0]
    except BrokenExecutor:
        return False
    waiting.popleft()
    return True


def _finished(future: Future[Any], job: J) -> FinishedJob[J]:
    error = future.exception()
    return FinishedJob(job, error=error) if error is not None else FinishedJob(job, future.result())


class _InProcess(Executor):
    """Carries out every job at once, in the thread that submits it."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*args, **kwargs))
        except Exception as error:  # Ctrl-C ends everything
            future.set_exception(error)
        return future


@contextmanager
def _in_process() -> Iterator[Executor]:
    """This process computes as a worker does, and afterwards as before."""
    from ..data_cache import data_cache

    with one_thread(), data_cache.restored():
        yield _InProcess()


@contextmanager
def _local(count: int) -> Iterator[Executor]:
    """One-thread processes: two of them do more than two threads of one."""
    executor = WorkerProcesses(count)
    try:
        yield executor
    except BaseException:
        executor.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def compute_with_one_thread() -> None:
    """Use one thread, as every worker does, so that all of them compute the same."""
    import torch

    torch.set_num_threads(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute as workers do, and afterwards as before."""
    import torch

    before = torch.get_num_threads()
    compute_with_one_thread()
    try:
        yield
    finally:
        torch.set_num_threads(before)
