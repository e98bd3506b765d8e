"""Worker processes of this machine, as an executor.

They are children of one process, their parent, which the driver starts. On Linux they are its forks: it has
imported what jobs need, which takes a second or two, so this is done once, and while the driver does it too.
The driver is not forked, because a fork inherits torch's threads and locks. The parent ends with its workers,
so the next ones know the modules, settings and folder that the driver has when they start.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

FORKS = sys.platform == "linux"  # on macOS, libraries of the system do not survive a fork


class WorkerProcesses(Executor):
    """Processes that carry out one job at a time; a thread here waits for each of them."""

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        pipes = [context.Pipe() for _ in range(count)]
        ours, theirs = ([pipe[end] for pipe in pipes] for end in (0, 1))
        self._parent = context.Process(target=_begin, args=(theirs, FORKS))
        self._parent.start()
        for end in theirs:  # so that only its worker has it, and we notice if that dies
            end.close()
        self._connections, self._unused = ours, list(ours)
        self._own = threading.local()
        self._threads = ThreadPoolExecutor(count, initializer=self._take_connection)
        self._died = False

    @property
    def died(self) -> bool:
        """Whether a process has died, as far as it is known."""
        return self._died or not self._parent.is_alive()

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.died:
            raise BrokenExecutor("A worker process has died.")
        return self._threads.submit(self._carried_out, work, args, kwargs)

    def kill(self) -> None:
        """End the processes, and the jobs that they have begun."""
        self._parent.terminate()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if len(self._unused) == len(self._connections):  # nothing was asked: they may be importing still
            self.kill()
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for connection in self._connections:  # a worker that waits for a job ends
            connection.close()
        self._parent.join()

    def _take_connection(self) -> None:
        self._own.connection = self._unused.pop()

    def _carried_out(self, work: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a job, which the worker of this thread carries out."""
        job = pickle.dumps((work, args, kwargs))
        connection: Connection = self._own.connection
        try:
            connection.send_bytes(job)
            answer = connection.recv_bytes()
        except (EOFError, OSError) as error:
            self._died = True
            raise BrokenExecutor("A worker process died.") from error
        result, failed = pickle.loads(answer)
        if failed is not None:
            raise failed
        return result


def _begin(connections: Sequence[Connection], forks: bool) -> None:
    """Start a worker for every connection, and end when they have ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which ends its workers
    if "numpy" in sys.modules:  # the driver's main module imports it, and may compute: so this has threads
        forks = False
    if forks:
        importlib.import_module(f"{__package__}.jobs")
        gc.freeze()  # what is imported stays: no worker looks through it for garbage, which would copy it
    context = multiprocessing.get_context("fork" if forks else "spawn")
    workers: list[BaseProcess] = []
    for own in connections:
        others = [other for other in connections if other is not own] if forks else []
        workers.append(context.Process(target=_work, args=(own, others)))  # type: ignore[attr-defined]
    for worker in workers:
        worker.start()
    for connection in connections:
        connection.close()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for worker in workers:
        worker.join()


def _work(connection: Connection, others: Sequence[Connection]) -> None:
    """Carry out jobs until there are no more."""
    from .executors import compute_with_one_thread

    for other in others:  # forks have them all: if a worker dies, nobody else may have its connection
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    compute_with_one_thread()
    while True:
        try:
            job = connection.recv_bytes()
        except EOFError:
            return
        connection.send_bytes(_answer(job))


def _answer(job: bytes) -> bytes:
    """The result of a job or its error, pickled."""
    try:
        work, args, kwargs = pickle.loads(job)
        return pickle.dumps((work(*args, **kwargs), None))
    except BaseException as error:
        error.add_note("In a worker process:\n" + "".join(traceback.format_tb(error.__traceback__)))
        try:
            return pickle.dumps((None, error))
        except Exception:
            return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))


def _end_with_parent() -> None:
    """End this process if the one that started it was killed: it would wait for jobs for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker process has a parent"
    parent.join()
    os._exit(1)
