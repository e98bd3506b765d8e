"""A sweep on a real Dask cluster: a scheduler and workers that are processes of their own."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from test_sweep import GRID, sweep, without_timings

from attnx.run.executors import Workers
from attnx.store.runs import Runs

pytestmark = pytest.mark.slow


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def started(*command, **environment):
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def worker(address, **environment):
    return started("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard", **environment)


@contextlib.contextmanager
def cluster(homes=({}, {})):
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = (
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-dashboard",
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(started(*scheduler))
        workers = [stack.enter_context(worker(address, **home)) for home in homes]
        time.sleep(8)  # a client waits for a scheduler, not for workers
        yield address, workers, stack


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))


def reports(found):
    return [without_timings(Runs().find(row.run)) for row in found.rows]


def test_a_cluster_gives_the_same_reports_with_a_worker_killed_and_replaced(tmp_path, monkeypatch):
    local = reports(sweep())
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "other"))
    with cluster() as (address, workers, stack):
        os.killpg(workers[0].pid, signal.SIGKILL)
        stack.enter_context(worker(address))
        assert reports(sweep(workers=Workers("dask", 0, address))) == local


def test_workers_that_share_no_folder_carry_their_results_back(tmp_path, monkeypatch):
    local = reports(sweep())
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "driver"))
    monkeypatch.setattr("attnx.run.sweep.marked", lambda folder: contextlib.nullcontext(folder / "nowhere"))
    homes = [{"ATTNX_HOME": str(tmp_path / f"worker {i}")} for i in range(2)]
    with cluster(homes) as (address, _, _):
        found = sweep({**GRID, "seeds": "0-1"}, Workers("dask", 0, address))
    assert json.dumps(reports(found)) == json.dumps(local)
