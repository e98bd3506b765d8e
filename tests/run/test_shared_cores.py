"""How torch's threads wait for each other, in a process that has not loaded it yet."""

import subprocess
import sys

import pytest

SAY = "import os, attnx; print(os.environ.get('GOMP_SPINCOUNT'))"


@pytest.mark.parametrize(
    ("given", "count"),
    [({}, "3000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "active"}, "None")],
)
def test_threads_wait_briefly_unless_a_user_chose_how(given, count, monkeypatch):
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    done = subprocess.run([sys.executable, "-c", SAY], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == count


def test_torch_is_not_loaded_before_the_choice_is_made():
    """libgomp reads it once, when torch loads it."""
    say = "import sys, attnx.cli.app; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", say], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == "False"
