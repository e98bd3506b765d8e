"""The example plugin, built and installed as anybody's would be, used from the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "attnx-sharp"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which the wheel of the example plugin is installed."""
    folder = tmp_path_factory.mktemp("third-party")
    pip = [sys.executable, "-m", "pip", "--quiet"]
    build = [
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder / "wheels"),
        str(EXAMPLE),
    ]
    subprocess.run([*pip, *build], check=True)
    (wheel,) = (folder / "wheels").glob("attnx_sharp-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(folder / "site"), str(wheel)], check=True)
    return folder / "site"


@pytest.fixture
def attnx(installed, cli, monkeypatch):
    """The command line, where the plugin is installed."""
    monkeypatch.syspath_prepend(str(installed))
    before = set(sys.modules)
    yield cli
    for module in set(sys.modules) - before:
        if module.partition(".")[0] == "attnx_sharp":
            del sys.modules[module]


def test_plugin_is_listed_with_its_version(attnx):
    _, out, _ = attnx("plugins")
    assert "sharp (attnx-sharp 0.1.0)" in out
    assert "1 projections, 1 metrics" in out


def test_plugin_passes_its_check(attnx):
    code, out, err = attnx("check", "attnx-sharp")
    assert code == 0, out + err
    assert "power" in out
    assert "top-share" in out
    assert "FAILED" not in out


def test_projection_and_metric_of_the_plugin_are_used_by_name(attnx, tmp_path):
    code, out, err = attnx(
        "evaluate", "--task", "sdc-2d:train=100,dev=50,test=50",
        "--projection", "power:exponent=3", "--metric", "top-share", "--metric", "focus",
        "--train", "epochs=3", "--out", str(tmp_path),
    )  # fmt: skip
    assert code == 0, err
    assert "sdc-2d:train=100,dev=50,test=50 · fcam-mlp · power:exponent=3 · 1 seed" in out
    assert "top-share" in out


def test_own_tests_of_the_plugin_pass(installed):
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "addopts=",
        "-p",
        "no:cacheprovider",
        str(EXAMPLE / "tests"),
    ]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert "5 passed" in result.stdout
