"""What a sweep shows before and while it runs: an estimate, and how far it is."""

import io
import re

import pytest
from rich.console import Console

import attnx
from attnx.host.catalog import Catalog
from attnx.progress import Progress
from attnx.request.grid import plan_sweep, read_grid
from attnx.run.data_cache import load_data_of
from attnx.run.workers.executors import Workers
from attnx.run.workers.jobs import Job, WorkerSetup
from attnx.run.workers.sweep_estimate import CellCost, Estimate, estimate
from attnx.run.workers.sweep_progress import SweepProgress
from attnx.store.home import home as home_folder
from attnx.store.identity import software_name


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("attnx.run.workers.sweep_progress.time.monotonic", lambda: now[0])
    return now


def shown(mode):
    progress = Progress("off")
    progress.mode = mode
    return progress


def test_the_time_of_a_sweep_is_its_work_shared_or_its_longest_cell():
    guess = Estimate({0: CellCost(10, 2), 1: CellCost(20, 4)}, tried=2)
    assert guess.seconds({0: 3, 1: 3}, workers=1) == 3 * 12 + 3 * 24
    assert guess.seconds({0: 3, 1: 3}, workers=3) == 36
    assert guess.seconds({0: 3, 1: 3}, workers=100) == 20 + 3 * 4  # seeds of a cell are measured in one job
    assert guess.seconds({2: 1}, workers=1) == 15 + 3  # as the others on average
    assert Estimate().seconds({0: 1}, 1) is None


def test_what_is_left_follows_from_what_the_finished_jobs_took(clock):
    guess = Estimate({0: CellCost(30, 10), 1: CellCost(30, 10)}, tried=1)
    with SweepProgress(["a", "b"], {0: 1, 1: 1}, shown("off"), guess, workers=1) as state:
        assert state.left() == 80
        clock[0] += 20
        assert state.left() == 60
        clock[0] += 40  # it takes twice as long as expected
        state.end(0, training=True)
        assert state.left() == 2 * 50
        state.end(1, training=True, reason="broke")
        assert state.left() == pytest.approx(60 / 60 * 10)  # what failed is not measured
        state.end(0, training=False)
        assert state.left() == 0
    assert state.summary() == "1 of 2 cells, 1 failed"


def test_a_cell_that_ends_is_a_line_where_there_is_no_terminal(clock, capsys):
    with SweepProgress(["kept", "fine", "bad"], {1: 1, 2: 2}, shown("plain"), Estimate(), workers=2) as state:
        state.end(2, training=True, reason="it broke")
        state.end(2, training=True, reason="it broke")
        clock[0] += 6
        state.end(1, training=True)
        state.end(1, training=False)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "bad: failed: it broke (1 of 3 cells, 1 failed; about 0 s left)",
        "fine: done (2 of 3 cells, 1 failed)",
    ]


def test_a_seed_that_is_trained_is_a_line_after_half_a_minute_without_one(clock, capsys):
    guess = Estimate({0: CellCost(100, 20)}, tried=1)
    with SweepProgress(["slow"], {0: 3}, shown("plain"), guess, workers=1) as state:
        clock[0] += 20
        state.end(0, training=True)  # too soon
        clock[0] += 80
        state.end(0, training=True)
        clock[0] += 50
        state.end(0, training=True)
    assert capsys.readouterr().err.splitlines() == [
        "slow: 2 of 3 seeds trained (0 of 1 cells; about 80 s left)",
        "slow: trained, to be measured (0 of 1 cells; about 30 s left)",
    ]


def test_the_live_table_shows_what_something_happens_in_first(clock, monkeypatch):
    screen = Console(file=io.StringIO(), width=60, height=7, force_terminal=True)
    monkeypatch.setattr("attnx.views.terminal.tables.screen", lambda **_: screen)
    titles = [f"cell {number}" for number in range(9)]
    with SweepProgress(titles, dict.fromkeys(range(9), 2), shown("live"), Estimate(), workers=2) as state:
        state.end(8, training=True)
        state.end(7, training=True)
        state.end(7, training=True)
        state.end(0, training=True, reason="broke")
        written = io.StringIO()
        Console(file=written, width=60).print(state.table())
    lines = [re.sub(r"  +", " | ", line.strip()) for line in written.getvalue().splitlines()]
    assert lines == [
        "0 of 9 cells, 1 failed; about 0 s left",
        "cell 0 | failed",
        "cell 7 | trained, to be measured",
        "cell 8 | 1 of 2 seeds trained",
        "and 6 more",
    ]


def estimated(**grid):
    catalog = Catalog.installed()
    task = {"task": "sdc-error-mode-1:train=400,dev=40,test=160", "metrics": "nnz"}
    cells = plan_sweep(read_grid(task | grid, None), catalog).cells
    setup = WorkerSetup(home=str(home_folder()), mark="", data_dir=None, without=(), keep="none")
    jobs = {
        number: Job(number, cell.asked.model_dump_json(), software_name(cell.plan), None, setup)
        for number, cell in enumerate(cells)
    }
    with Workers("in-process").open() as executor:
        return estimate(jobs, cells, executor)


def test_a_trial_of_each_pair_counts_for_all_epochs_and_leaves_nothing(home):
    found = estimated(training=["epochs=10", "epochs=40"])
    assert (found.tried, found.error, sorted(found.costs)) == (1, "", [0, 1])
    assert found.costs[1].training == pytest.approx(4 * found.costs[0].training)
    assert found.costs[1].measuring == found.costs[0].measuring > 0
    assert not list(home.rglob("*.safetensors"))
    sentence = found.sentence(found.seconds({0: 1, 1: 1}, 2), 2)
    assert re.fullmatch(
        r"estimate: about \d+ s on 2 workers \(from a short trial of 1 pair of task and model\)", sentence
    )


def test_trials_of_several_cells_load_their_data_once(monkeypatch):
    loaded = []

    def load(plan, source):
        loaded.append(plan.task.label)
        return load_data_of(plan, source)

    monkeypatch.setattr("attnx.run.data_cache.load_data_of", load)
    assert estimated(training=["epochs=10", "epochs=40"]).tried == 1
    assert len(loaded) == 1


def test_seeds_whose_weights_are_stored_cost_no_training(home):
    task, training = "sdc-error-mode-1:train=400,dev=40,test=160", {"epochs": 3, "patience": 2}
    grid = {"training": ["epochs=3,patience=2", "epochs=4,patience=2"], "seeds": "0-1"}
    before = estimated(**grid)
    attnx.evaluate(task, metrics="none", seeds=[0], training=training, progress=False)
    half = estimated(**grid)
    assert half.costs[0].training / half.costs[1].training == pytest.approx(3 / 4 / 2)
    attnx.evaluate(task, metrics="none", seeds=[0, 1], training=training, progress=False)
    stored = estimated(**grid)
    assert (stored.costs[0].training, stored.costs[1].training > 0) == (0.0, True)
    assert "less if training stops early" in before.sentence(1.0, 1)
    alone = Estimate({0: stored.costs[0]}, stops_early=True)
    assert "stops early" not in alone.sentence(1.0, 1)


def test_a_trial_that_fails_is_reported_and_stops_nothing():
    found = estimated(training="learning_rate=1e39")
    assert found.costs == {}
    assert "diverged" in found.sentence(found.seconds({0: 1}, 2), 2)
