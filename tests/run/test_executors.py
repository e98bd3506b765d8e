"""Workers that die, units that fail, and units that follow from others."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from attnx.run.workers.executors import OpenWorkers, Workers, run_jobs


def work(unit):
    """`die` ends the worker, `die once` the first time only, `fail` raises; `process` says in which it is."""
    kind, value = unit
    if kind == "die" or (kind == "die once" and not _seen(Path(value))):
        os._exit(1)
    if kind == "fail":
        raise ValueError(value)
    return kind, os.getpid() if kind == "process" else value


def _seen(path):
    seen = path.exists()
    path.touch()
    return seen


def carried_out(units, then=lambda done: (), workers=1):
    return list(run_jobs(Workers("local", workers), work, units, then))


def test_units_follow_from_the_results_of_others():
    def then(done):
        return [("second", done.result[1])] if done.result[0] == "first" else []

    done = carried_out([("first", 1), ("first", 2)], then, workers=2)
    assert sorted(one.result for one in done) == [("first", 1), ("first", 2), ("second", 1), ("second", 2)]


def test_a_unit_whose_worker_died_is_tried_again_and_the_others_are_done_once(tmp_path):
    done = carried_out([("die once", str(tmp_path / "mark")), ("fine", 1), ("fail", "why")])
    found = {one.unit[0]: one for one in done}
    assert found["die once"].error is None
    assert found["fine"].result == ("fine", 1)
    assert str(found["fail"].error) == "why"
    assert len(done) == 3


@pytest.mark.slow
def test_a_unit_that_always_ends_its_worker_is_given_up():
    done = carried_out([("die", 0), ("fine", 1)])
    found = {one.unit[0]: one for one in done}
    assert found["die"].error is not None


def test_workers_stay_from_one_piece_of_work_to_the_next_and_are_replaced_when_they_have_died(tmp_path):
    with ExitStack() as stack:
        workers = OpenWorkers(Workers("local", 1), stack)

        def process(*units):
            done = list(run_jobs(workers, work, units, lambda done: ()))
            assert not [one.error for one in done if one.error]
            return done[-1].result[1]

        first = process(("process", 0))
        assert process(("process", 0)) == first
        assert process(("die once", str(tmp_path / "mark")), ("process", 0)) != first
