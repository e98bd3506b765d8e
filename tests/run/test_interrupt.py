"""Ctrl-C in the middle of a real run: one line, its own exit code, nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from attnx.store.weights import Weights

LONG = ["--task", "sdc-2d:train=400,dev=100,test=100", "--train", "epochs=100000"]


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate", "--metric", "nnz"],
        pytest.param(["study", "uniform-attention"], marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_run_says_so_and_leaves_nothing_half_written(
    command: list[str], tmp_path: Path
) -> None:
    run = [sys.executable, "-c", "from attnx.cli.app import main; main()", *command, *LONG]
    environment = os.environ | {"ATTNX_HOME": str(tmp_path)}
    checkpoints = Weights(tmp_path / "weights").checkpoints
    with subprocess.Popen(
        run,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=partial(
            signal.signal, signal.SIGINT, signal.SIG_DFL
        ),  # the background of a shell ignores it
    ) as process:
        while not list(checkpoints.root.glob("[!.]*/[!.]*")) and process.poll() is None:
            time.sleep(0.01)  # until training has begun
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert out == b""
    (last,) = [line for line in err.decode().splitlines() if not line.startswith("seed")]
    assert last == "error: Interrupted. Finished parts are saved; no file is half-written."
    (left,) = [path for path in tmp_path.rglob("*") if path.is_file()]  # from where training goes on
    assert left.parent.parent == checkpoints.root
    assert checkpoints.find(left.parent.name) is not None


def test_runs_are_listed_newest_first(tmp_path: Path, cli) -> None:  # type: ignore[no-untyped-def]
    small = ["--task", "sdc-2d:train=40,dev=20,test=20", "--train", "epochs=1", "--out", str(tmp_path)]
    for metric in ("nnz", "entropy"):
        assert cli("evaluate", *small, "--metric", metric)[0] == 0
    code, out, err = cli("runs", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    assert out.index("entropy") < out.index("nnz")
