"""Where units of work are carried out: worker processes of this machine, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

from ...errors import UsageError

ExecutorName = Literal["local", "dask"]
U = TypeVar("U", bound=Hashable)
TRIES = 3  # of a unit whose worker died


@dataclass(frozen=True, slots=True)
class Workers:
    """Which executor is asked for, and how many workers it has."""

    kind: ExecutorName = "local"
    count: int = 0  # 0: as many as cores
    scheduler: str = ""  # address of a Dask scheduler; empty: a cluster of this machine's own

    @property
    def number(self) -> int:
        """How many there are, as far as it was said; a cluster elsewhere has two at least."""
        return self.count or (2 if self.scheduler else os.cpu_count() or 1)

    @property
    def at_once(self) -> int:
        """How many units are handed over at a time.

        When a worker of this machine dies, all that was handed over is lost, and no one knows whose fault
        it was: it is no more than they are at. A Dask scheduler knows, and has everything to share out.
        """
        return self.number if self.kind == "local" else sys.maxsize

    @contextmanager
    def open(self) -> Iterator[Executor]:
        """An executor, closed whatever happens."""
        open_ = _local(self.number) if self.kind == "local" else _dask(self.scheduler, self.number)
        with open_ as executor:
            yield executor


class OpenWorkers:
    """Workers that stay from one piece of work to the next, and are replaced when they have died."""

    def __init__(self, workers: Workers, stack: ExitStack) -> None:
        self.workers, self._stack = workers, stack  # they leave when the stack is closed
        self.at_once = workers.at_once
        self._executor: Executor | None = None

    @contextmanager
    def open(self) -> Iterator[Executor]:
        """The executor there is, or a new one."""
        if self._executor is None or _dead(self._executor):
            self._executor = self._stack.enter_context(self.workers.open())
        yield self._executor


def _dead(executor: Executor) -> bool:
    try:
        executor.submit(int).result()
    except BrokenExecutor:
        return True
    return False


def workers_of(executor: str, count: int, scheduler: str) -> Workers:
    """The workers that a person asks for."""
    if executor not in get_args(ExecutorName):
        raise UsageError(f"Unknown executor '{executor}': give local or dask.")
    return Workers("dask" if executor == "dask" else "local", count, scheduler)


def workers_wanted(executor: str, count: int | None, scheduler: str) -> Workers | None:
    """The workers that a person asks for where none are usual: none without a number, cluster or address."""
    workers = workers_of(executor, count or 0, scheduler)
    return None if count is None and workers == Workers() else workers


@dataclass(frozen=True, slots=True)
class FinishedJob(Generic[U]):
    """What became of a unit: its result, or its error."""

    unit: U
    result: Any = None
    error: BaseException | None = None


def run_jobs(
    workers: Workers | OpenWorkers,
    work: Callable[[U], Any],
    units: Iterable[U],
    then: Callable[[FinishedJob[U]], Iterable[U]],
) -> Iterator[FinishedJob[U]]:
    """Carry out units and those that follow from their results; yield each as it ends.

    A unit whose worker died is tried again: workers that a system or a person ends are nobody's fault.
    """
    waiting, deaths = deque(units), Counter[U]()
    while waiting:
        with workers.open() as executor:
            futures: dict[Future[Any], U] = {}
            broken = False
            while futures or (waiting and not broken):
                while waiting and not broken and len(futures) < workers.at_once:
                    broken = not _submitted(executor, work, waiting, futures)
                for future in wait(futures, return_when=FIRST_COMPLETED).done:
                    done = _done(future, futures.pop(future))
                    if isinstance(done.error, BrokenExecutor):
                        broken = True
                        deaths[done.unit] += 1
                        if deaths[done.unit] < TRIES:
                            waiting.append(done.unit)
                            continue
                    waiting.extendleft(then(done))  # what was begun is ended before anything else begins
                    yield done


def _submitted(
    executor: Executor, work: Callable[[U], Any], waiting: deque[U], futures: dict[Future[Any], U]
) -> bool:
    """Hand over the next unit, unless the workers have died meanwhile."""
    try:
        futures[executor.submit(work, waiting[0])] = waiting[0]
    except BrokenExecutor:
        return False
    waiting.popleft()
    return True


def _done(future: Future[Any], unit: U) -> FinishedJob[U]:
    error = future.exception()
    return FinishedJob(unit, error=error) if error is not None else FinishedJob(unit, future.result())


@contextmanager
def _local(count: int) -> Iterator[Executor]:
    """One-thread processes: two of them do more than two threads of one."""
    context = multiprocessing.get_context("spawn")  # a fork would inherit torch's threads and locks
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_begin_worker)
    try:
        yield executor
    except BaseException:
        for process in list((executor._processes or {}).values()):  # nothing public ends what they are at
            process.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which ends its workers
    threading.Thread(target=_leave_with_driver, daemon=True).start()
    compute_with_one_thread()


def _leave_with_driver() -> None:
    """End this worker when its driver was killed: it would wait for work for ever."""
    driver = multiprocessing.parent_process()
    assert driver is not None, "a worker has been started by somebody"
    driver.join()
    os._exit(1)


def compute_with_one_thread() -> None:
    """What every worker does first, so that all of them compute the same."""
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


@contextmanager
def _dask(scheduler: str, count: int) -> Iterator[Executor]:
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise UsageError("--executor dask needs Dask: pip install 'attnx[dask]'.") from error
    cluster = None
    try:
        if not scheduler:
            cluster = LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None)
        client = Client(cluster or scheduler, timeout="10s", set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"No Dask scheduler answers at '{scheduler}': {error}.") from error
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()
        if cluster is not None:
            cluster.close()
