"""What a sweep makes of a full disk, of workers with other packages, and of a second driver."""

import errno
import os
import subprocess
from dataclasses import replace

import pytest
from faults import failing_disk
from test_kills import COMMAND, GRID
from test_sweep import without_timings

from attnx.errors import AttnxError, PluginError
from attnx.host.catalog import Catalog
from attnx.progress import Progress
from attnx.request.grid import plan_sweep, read_grid
from attnx.run.workers.executors import Workers
from attnx.run.workers.jobs import run_job
from attnx.run.workers.sweep import carry_out_sweep
from attnx.store.runs import Runs

SMALL = {
    "task": "sdc-error-mode-1:train=20,dev=20,test=20",
    "projection": ["softmax", "sparsemax"],
    "training": "epochs=1",
    "metrics": "nnz",
    "explanations": "attention",
}


def sweep(grid=SMALL):
    catalog = Catalog.installed()
    plan = plan_sweep(read_grid(grid, None), catalog)
    with Workers("in-process").started() as workers:
        return carry_out_sweep(plan, catalog, workers, progress=Progress("off"))


def reports(swept):
    return {row.run: without_timings(Runs().find(row.run)) for row in swept.rows}


def test_a_full_disk_fails_cells_that_a_rerun_completes(home, monkeypatch):
    with failing_disk(home.parent) as disk:
        whole = reports(sweep())
    assert len(whole) == 2
    failures = set()
    for number in range(3, disk.changes + 1, 20):
        monkeypatch.setenv("ATTNX_HOME", str(home.parent / f"home-{number}"))
        with failing_disk(home.parent / f"home-{number}", number, errno.ENOSPC):
            try:
                swept = sweep()
            except (AttnxError, OSError) as error:  # before anything was begun
                failures.add(str(error))
            else:
                failures |= {one.reason for one in swept.failed}
                assert reports(swept).items() <= whole.items()
        again = sweep()
        assert not again.failed
        assert reports(again) == whole
    assert failures
    assert all(os.strerror(errno.ENOSPC) in reason for reason in failures)


def test_a_worker_with_other_packages_refuses_every_job(home, monkeypatch):
    monkeypatch.setattr("attnx.run.workers.sweep.software_name", lambda plan: "another")
    swept = sweep()
    assert not swept.rows
    assert {one.reason for one in swept.failed} == {
        "this worker has other versions of attnx, its plugins or its libraries than the driver: install the "
        "same packages on both"
    }
    assert not list(home.glob("weights/*"))


def test_a_job_of_a_driver_with_other_packages_is_refused_whatever_was_done_before(home, monkeypatch):
    jobs = []
    monkeypatch.setattr("attnx.run.workers.sweep.run_job", lambda job: jobs.append(job) or run_job(job))
    sweep()
    with pytest.raises(PluginError, match="other versions"):
        run_job(replace(jobs[-1], software="another"))


@pytest.mark.slow
def test_two_drivers_on_one_folder_end_with_the_same_reports(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "alone"))
    alone = reports(sweep(GRID))
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "both"))
    drivers = [
        subprocess.Popen([*COMMAND, "--workers", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for driver in drivers:
        _, err = driver.communicate(timeout=900)
        assert driver.returncode == 0, err.decode()
        assert b"Traceback" not in err
    assert reports(sweep(GRID)) == alone
    assert list((tmp_path / "both" / "weights" / ".checkpoints").glob("[!.]*")) == []
