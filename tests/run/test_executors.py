"""Workers that die, jobs that fail, jobs that follow from others, and the choice of an executor."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from pathlib import Path

import pytest

from attnx.errors import UsageError
from attnx.run.workers import processes
from attnx.run.workers.executors import Workers, choose_run_workers, choose_workers, run_jobs

ONE = Workers("local", 1)
FORKED = "ForkProcess" if processes.FORKS else "SpawnProcess"


def work(job):
    """`die` ends the worker, `die once` the first time only, `fail` raises, `wait` waits for a file."""
    kind, value = job
    if kind == "die" or (kind == "die once" and not _touched(Path(value))):
        os._exit(1)
    if kind == "fail":
        raise ValueError(value)
    while kind == "wait" and not Path(value).exists():
        time.sleep(0.01)
    return kind, os.getpid() if kind == "process" else value


def _touched(path):
    before = path.exists()
    path.touch()
    return before


def carried_out(jobs, then=lambda done: (), workers=Workers("in-process")):  # noqa: B008 - it is frozen
    return list(run_jobs(workers, work, jobs, then))


def test_jobs_follow_from_the_results_of_others():
    def then(done):
        return [("second", done.result[1])] if done.result[0] == "first" else []

    done = carried_out([("first", 1), ("first", 2)], then)
    assert sorted(one.result for one in done) == [("first", 1), ("first", 2), ("second", 1), ("second", 2)]


def test_a_job_whose_worker_died_is_tried_again_and_the_others_are_done_once(tmp_path):
    done = carried_out([("die once", str(tmp_path / "mark")), ("fine", 1), ("fail", "why")], workers=ONE)
    found = {one.job[0]: one for one in done}
    assert found["die once"].error is None
    assert found["fine"].result == ("fine", 1)
    assert str(found["fail"].error) == "why"
    assert len(done) == 3


def test_something_is_done_meanwhile(tmp_path, monkeypatch):
    """The job waits for a file that is written while it runs."""
    monkeypatch.setattr("attnx.run.workers.executors.EVERY", 0.01)
    awaited = tmp_path / "written"
    (done,) = run_jobs(ONE, work, [("wait", str(awaited))], lambda done: (), awaited.touch)
    assert done.error is None


@pytest.mark.slow
def test_a_job_that_always_ends_its_worker_is_given_up():
    done = carried_out([("die", 0), ("fine", 1)], workers=ONE)
    found = {one.job[0]: one for one in done}
    assert found["die"].error is not None


def test_workers_stay_from_one_piece_of_work_to_the_next_and_are_replaced_when_they_have_died(tmp_path):
    with ONE.started() as workers:

        def process(*jobs):
            done = list(run_jobs(workers, work, jobs, lambda done: ()))
            assert not [one.error for one in done if one.error]
            return done[-1].result[1]

        first = process(("process", 0))
        assert process(("process", 0)) == first
        assert process(("die once", str(tmp_path / "mark")), ("process", 0)) != first


@pytest.mark.parametrize(("kind", "started"), [("local", 1), ("in-process", 0)])
def test_worker_processes_are_started_once_before_there_is_work(monkeypatch, kind, started):
    opened = []

    class Recording(Executor):
        def submit(self, work, /, *args, **kwargs):
            done = Future()
            done.set_result(work(*args, **kwargs))
            return done

    def open_(workers):
        opened.append(workers)
        return nullcontext(Recording())

    monkeypatch.setattr(Workers, "open", open_)
    with Workers(kind).started() as workers:
        assert len(opened) == started
        for _ in range(2):
            with workers.open():
                assert len(opened) == 1


def test_in_this_process_jobs_are_done_one_after_the_other_and_threads_are_as_before_afterwards():
    import torch

    torch.set_num_threads(2)
    try:
        done = list(run_jobs(Workers("in-process"), threads, [1, 2], lambda done: ()))
        assert [one.result for one in done] == [(os.getpid(), 1)] * 2
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def threads(job):
    import torch

    return os.getpid(), torch.get_num_threads()


@pytest.mark.parametrize(
    ("asked", "workers"),
    [
        ((None, None, ""), Workers("local")),
        ((None, 3, ""), Workers("local", 3)),
        ((None, None, "tcp://localhost:1"), Workers("dask", 0, "tcp://localhost:1")),
        (("dask", 4, ""), Workers("dask", 4)),
        (("in-process", None, ""), Workers("in-process")),
    ],
)
def test_workers_follow_from_what_is_asked(asked, workers):
    assert choose_workers(*asked) == workers
    assert choose_run_workers(*asked) == (None if asked == (None, None, "") else workers)


def test_nothing_asked_takes_the_default():
    assert choose_workers(None, None, default="in-process") == Workers("in-process")
    assert choose_workers(None, 2, default="in-process") == Workers("local", 2)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("locale", None, ""), "Unknown executor 'locale'. Did you mean 'local'"),
        (("in-process", 2, ""), "'in-process' has one worker, not 2"),
        (("local", None, "tcp://localhost:1"), "'local' has no scheduler"),
    ],
)
def test_executors_that_make_no_sense_are_refused(asked, message):
    with pytest.raises(UsageError, match=message):
        choose_workers(*asked)


def test_workers_of_this_machine_compute_on_as_many_cores_as_it_has_at_most(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert [Workers("local", count).computing for count in (1, 2, 8, 0)] == [1, 2, 2, 2]
    assert Workers("dask", 8, scheduler="tls://elsewhere:8786").computing == 8
    assert Workers("in-process").computing == 1


def where(job):
    """What a worker knows of the place where it works, and how it was started."""
    import torch

    started = type(multiprocessing.current_process()).__name__
    return os.getcwd(), os.environ.get("ATTNX_TOLD"), torch.get_num_threads(), started


def found_by_workers():
    with Workers("local", 2).started() as workers:
        return {done.result for done in run_jobs(workers, where, range(4), lambda done: ())}


def test_workers_know_the_folder_and_settings_that_their_driver_has_when_they_start(tmp_path, monkeypatch):
    for told in ("first", "then"):
        place = tmp_path / told
        place.mkdir()
        monkeypatch.chdir(place)
        monkeypatch.setenv("ATTNX_TOLD", told)
        assert found_by_workers() == {(str(place), told, 1, FORKED)}


COMPUTING = """
import torch
from test_executors import found_by_workers

twice = (torch.ones(500, 500, requires_grad=True) @ torch.ones(500, 500)).sum()
twice.backward()
if __name__ == "__main__":
    print(found_by_workers())
"""


def test_a_process_that_may_have_computed_is_not_forked(tmp_path, monkeypatch):
    script = tmp_path / "computing.py"
    script.write_text(COMPUTING)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    ended = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert ended.stdout == f"{{('{tmp_path}', None, 1, 'SpawnProcess')}}\n", ended.stderr


def end(job):
    """End the process that this one was forked from, the first time."""
    if not _touched(Path(job)):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    return os.getpid()


def test_workers_end_with_the_process_that_they_were_forked_from_and_are_replaced(tmp_path):
    (done,) = run_jobs(Workers("local", 2), end, [str(tmp_path / "mark")], lambda done: ())
    assert done.error is None


def test_workers_that_were_never_asked_anything_are_not_waited_for():
    began = time.monotonic()
    executor = processes.WorkerProcesses(2)
    executor.shutdown()
    assert time.monotonic() - began < 60
    assert not executor._parent.is_alive()


class Stubborn(Exception):
    def __reduce__(self):
        raise TypeError("cannot be pickled")


def fail(kind):
    if kind == "stubborn":
        raise Stubborn("why")
    if kind == "lambda":
        return lambda: None
    sys.exit(3)


def test_errors_of_workers_reach_the_driver_with_the_place_where_they_happened():
    done = run_jobs(ONE, fail, ["stubborn", "lambda", "exit"], lambda done: ())
    errors = {one.job: one.error for one in done}
    assert str(errors["stubborn"]) == "Stubborn: why"
    assert "pickle" in str(errors["lambda"])
    assert isinstance(errors["exit"], SystemExit)
    assert "sys.exit(3)" in "".join(errors["exit"].__notes__)
