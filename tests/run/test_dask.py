"""A sweep on a real Dask cluster: a scheduler and workers that are processes of their own."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from test_shards import SPEC, content
from test_sweep import GRID, sweep, without_timings

from attnx.api.evaluate import evaluate_spec
from attnx.host.catalog import Catalog
from attnx.progress import Progress
from attnx.request.spec import Choice
from attnx.run.workers.executors import Workers
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


def worker(address, *options, **environment):
    return started(
        "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard", *options, **environment
    )


def of_client(tls):
    from distributed import Security

    return tls and Security(
        tls_ca_file=str(tls["ca"]),
        tls_client_cert=str(tls["cert"]),
        tls_client_key=str(tls["key"]),
        require_encryption=True,
    )


@contextlib.contextmanager
def cluster(homes=({}, {}), tls=None):
    from distributed import Client

    port = free_port()
    address = f"{'tls' if tls else 'tcp'}://127.0.0.1:{port}"
    files = {"ca": "--tls-ca-file", "cert": "--tls-cert", "key": "--tls-key"}
    secured = [part for name, file in (tls or {}).items() for part in (files[name], str(file))]
    scheduler = (
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-dashboard",
        *(["--protocol", "tls", *secured] if tls else []),
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(started(*scheduler))
        workers = [stack.enter_context(worker(address, *secured, **home)) for home in homes]
        with Client(address, timeout=600, set_as_default=False, security=of_client(tls)) as client:
            client.wait_for_workers(len(homes))
        yield address, workers, stack


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))


def reports(found):
    return [without_timings(Runs().find(row.run)) for row in found.rows]


@contextlib.contextmanager
def replaced_on_the_way(address, victim, stack, begun, **home):
    """Kill a worker once work has begun, and start another in its place."""
    ended, killed = threading.Event(), threading.Event()

    def replace():
        while not ended.wait(0.05):
            if begun():
                os.killpg(victim.pid, signal.SIGKILL)
                killed.set()
                stack.enter_context(worker(address, **home))
                return

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    assert killed.is_set(), "the work was done before a worker was killed"


def test_a_cluster_gives_the_same_reports_with_a_worker_killed_and_replaced_on_the_way(tmp_path, monkeypatch):
    grid = {**GRID, "training": "epochs=30"}
    local = reports(sweep(grid))
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "other"))
    trained = tmp_path / "other" / "weights"
    with (
        cluster() as (address, workers, stack),
        replaced_on_the_way(address, workers[0], stack, lambda: any(trained.glob("[!.]*"))),
    ):
        assert reports(sweep(grid, Workers("dask", 0, address))) == local


@pytest.mark.parametrize("shared", [True, False])
def test_a_run_in_shards_is_the_same_on_a_cluster_with_a_worker_killed_on_the_way(
    tmp_path, monkeypatch, shared
):
    texts = Choice.parse("sdc-text:train=40,dev=20,test=4000")
    spec = SPEC.model_copy(update={"task": texts, "metrics": SPEC.metrics[:3], "seeds": (0,)})
    catalog, quiet = Catalog.installed(), Progress("off")
    alone = content(evaluate_spec(spec, catalog, keep="values", progress=quiet).folder)
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "driver"))
    homes = [{}, {}]
    if not shared:
        monkeypatch.setattr(
            "attnx.run.workers.jobs.marked", lambda folder: contextlib.nullcontext(folder / "no")
        )
        homes = [{"ATTNX_HOME": str(tmp_path / f"worker {i}")} for i in range(2)]
    kept = tmp_path / "driver" / "shards"
    with (
        cluster(homes) as (address, workers, stack),
        replaced_on_the_way(address, workers[0], stack, lambda: any(kept.glob("*/[!.]*")), **homes[0]),
    ):
        asked = Workers("dask", 0, address)
        found = evaluate_spec(spec, catalog, keep="values", workers=asked, progress=quiet)
        assert content(found.folder) == alone


def test_workers_that_share_no_folder_carry_their_results_back(tmp_path, monkeypatch):
    local = reports(sweep())
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "driver"))
    monkeypatch.setattr(
        "attnx.run.workers.jobs.marked", lambda folder: contextlib.nullcontext(folder / "nowhere")
    )
    homes = [{"ATTNX_HOME": str(tmp_path / f"worker {i}")} for i in range(2)]
    with cluster(homes) as (address, _, _):
        found = sweep({**GRID, "seeds": "0-1"}, Workers("dask", 0, address))
    assert json.dumps(reports(found)) == json.dumps(local)


def test_a_worker_with_another_version_of_a_plugin_refuses(tmp_path, home):
    import attnx_sdc

    other = tmp_path / "other" / "attnx_sdc"
    shutil.copytree(Path(attnx_sdc.__file__).parent, other)
    (other / "__init__.py").write_text((other / "__init__.py").read_text() + "# another version\n")
    with cluster([{"PYTHONPATH": str(other.parent)}]) as (address, _, _):
        found = sweep(workers=Workers("dask", 0, address))
    assert not found.rows
    assert all("other versions of attnx, its plugins" in one.reason for one in found.failed)
