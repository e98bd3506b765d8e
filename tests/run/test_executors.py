"""Workers that die, jobs that fail, jobs that follow from others, and the choice of an executor."""

import os
import time
from concurrent.futures import Executor
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest

from attnx.errors import UsageError
from attnx.run.workers.executors import OpenWorkers, Workers, choose_run_workers, choose_workers, run_jobs

ONE = Workers("local", 1)


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
    with ExitStack() as stack:
        workers = OpenWorkers(ONE, stack)

        def process(*jobs):
            done = list(run_jobs(workers, work, jobs, lambda done: ()))
            assert not [one.error for one in done if one.error]
            return done[-1].result[1]

        first = process(("process", 0))
        assert process(("process", 0)) == first
        assert process(("die once", str(tmp_path / "mark")), ("process", 0)) != first


@pytest.mark.parametrize(("kind", "started"), [("local", 2), ("in-process", 0)])
def test_worker_processes_are_started_once_before_there_is_work(monkeypatch, kind, started):
    asked = []

    class Recording(Executor):
        def submit(self, work, /, *args, **kwargs):
            asked.append(work)

    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(Workers, "open", lambda _: nullcontext(Recording()))
    with ExitStack() as stack:
        workers = OpenWorkers(Workers(kind, 0 if kind == "in-process" else 8), stack)
        workers.start(int)
        if started:
            assert workers._executor is not None
            workers.start(int)
    assert asked == [int] * started


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
