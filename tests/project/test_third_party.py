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


def attnx(site, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", "from attnx.cli.app import main; main()", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_plugin_is_listed_with_its_version(installed):
    result = attnx(installed, "plugins")
    assert "sharp (attnx-sharp 0.1.0)" in result.stdout
    assert "1 projections, 1 metrics" in result.stdout


def test_plugin_passes_its_check(installed):
    result = attnx(installed, "check", "attnx-sharp")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "power" in result.stdout
    assert "top-share" in result.stdout
    assert "FAILED" not in result.stdout


def test_projection_and_metric_of_the_plugin_are_used_by_name(installed, tmp_path):
    result = attnx(
        installed, "evaluate", "--task", "sdc-2d:train=100,dev=50,test=50",
        "--projection", "power:exponent=3", "--metric", "top-share", "--metric", "focus",
        "--train", "epochs=3", "--out", str(tmp_path),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "sdc-2d:train=100,dev=50,test=50 · fcam-mlp · power:exponent=3 · 1 seed" in result.stdout
    assert "top-share" in result.stdout


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
