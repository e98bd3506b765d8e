"""A sweep whose driver and workers are killed at random ends with all cells right."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_sweep import without_timings

import attnx
from attnx.store.runs import Runs

GRID = {
    "task": "sdc-2d:train=400,dev=40,test=40",
    "projection": ["softmax", "sparsemax"],
    "explanations": ["attention", "gradient"],
    "metrics": ["focus", "nnz", "kendall"],
    "training": "epochs=25",
    "seeds": "0",
}
STARTED = [sys.executable, "-c", "from attnx.cli.app import main; main()", "sweep"]
COMMAND = [
    *(*STARTED, "--task", GRID["task"], "--train", GRID["training"], "--seeds", GRID["seeds"]),
    *(part for name in GRID["projection"] for part in ("--projection", name)),
    *(part for name in GRID["explanations"] for part in ("--explanation", name)),
    *(part for name in GRID["metrics"] for part in ("--metric", name)),
]


def workers_of(driver):
    """The pids of a driver's workers, which another process of its own has forked."""
    return [worker for parent in children_of(driver) for worker in children_of(parent)]


def children_of(process):
    """The pids of a process's children."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):  # it has ended
            if int((place / "stat").read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(place.name))
    return found


def alive(pid):
    """Whether a process runs: one that nobody has waited for does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def written(home):
    """The files of weights, runs and checkpoints; folders that vanish meanwhile are skipped."""
    files = (Path(folder) / name for folder, _, names in os.walk(home) for name in names)
    return {file for file in files if file.suffix in (".safetensors", ".json")}


class Killer:
    """Kills a driver or its workers, at random moments, and sees that no worker outlives its driver."""

    def __init__(self, home, seed, wanted=()):
        self.home, self.chance, self.wanted = home, random.Random(seed), list(wanted)
        self.victims = []

    def moment(self, driver):
        """Wait for a moment of any kind: of starting, or a while after something new was written."""
        until = time.monotonic() + self.chance.uniform(0, 12)
        before = written(self.home) if self.wanted or self.chance.random() < 0.7 else None
        while driver.poll() is None and (self.wanted or time.monotonic() < until):
            if before is not None and written(self.home) - before:
                time.sleep(self.chance.uniform(0, 0.4))
                return
            time.sleep(0.01)

    def kill(self, driver):
        workers = workers_of(driver.pid)
        kinds = ["driver", *(["worker", "all"] if workers else [])]
        victim = self.wanted.pop(0) if self.wanted else self.chance.choice(kinds)
        chosen = [driver.pid] if victim == "driver" else [self.chance.choice(workers)] if workers else []
        for pid in [driver.pid, *workers] if victim == "all" else chosen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.victims.append(victim)
        if victim != "worker":
            driver.wait()
            end = time.monotonic() + 600
            while any(map(alive, workers)) and time.monotonic() < end:
                time.sleep(0.05)
            assert not any(map(alive, workers)), "workers outlive their driver"


def swept_with_kills(home, kills, seed, wanted, workers):
    """Sweep until all is done, killing so many times on the way: what was killed, and the last output."""
    killer = Killer(home, seed, wanted)
    environment = os.environ | {"ATTNX_HOME": str(home)}
    while True:
        with subprocess.Popen(
            [*COMMAND, "--workers", str(workers), "--json"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as driver:
            while len(killer.victims) < kills and driver.poll() is None:
                killer.moment(driver)
                if driver.poll() is None:
                    killer.kill(driver)
            out, err = driver.communicate(timeout=600)
        assert b"Traceback" not in err, err.decode()
        if driver.returncode == 0 and len(killer.victims) >= kills:
            return killer.victims, json.loads(out)
        if driver.returncode == 0:  # there is time for more
            discard_one_run(home, killer.chance)


def discard_one_run(home, chance):
    """Take away a run and its weights, so that there is something to do again."""
    for room in ("runs", "weights"):
        kept = sorted((home / room).glob("[!.]*"))
        place = chance.choice(kept)
        place.rename(home / f"discarded-{room}-{chance.random()}")


@pytest.fixture
def undisturbed(tmp_path, monkeypatch):
    """The reports of all cells, by single runs that nobody disturbs."""
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "undisturbed"))
    settings = {name: GRID[name] for name in ("explanations", "metrics", "seeds")}
    found = [
        attnx.evaluate(
            GRID["task"], projection=name, training={"epochs": 25}, keep="values", progress=False, **settings
        )
        for name in GRID["projection"]
    ]
    return {report.fingerprint: without_timings(report) for report in found}


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [("driver", "worker"), ()])
def test_a_sweep_killed_again_and_again_ends_as_one_undisturbed(tmp_path, undisturbed, wanted):
    kills = len(wanted) or 60
    home = tmp_path / "killed"
    home.mkdir()
    victims, report = swept_with_kills(home, kills, 14, wanted, workers=1 if wanted else 2)
    print(f"killed: {victims}")
    assert len(victims) == kills
    assert report["failed"] == []
    runs = Runs(home / "runs")
    assert {row["run"] for row in report["rows"]} == set(undisturbed)
    assert {run: without_timings(runs.find(run)) for run in undisturbed} == undisturbed
    assert list((home / "weights" / ".checkpoints").glob("[!.]*")) == []
