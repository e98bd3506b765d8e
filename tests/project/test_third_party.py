"""The example plugins, built and installed as anybody's would be, used from the command line.

Three of them use an outside library. Their quick tests put a stand-in in its place; `make test-slow` runs all
tests of the packages, with the library where it is installed.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from forked_pytest import forked_pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PACKAGES = ("sharp", "quantus", "owen", "polars")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which the wheels of the example plugins are installed."""
    folder = tmp_path_factory.mktemp("third-party")
    pip = [sys.executable, "-m", "pip", "--quiet"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder / "wheels")]
    subprocess.run([*pip, *build, *(str(EXAMPLES / f"attnx-{name}") for name in PACKAGES)], check=True)
    wheels = sorted(map(str, (folder / "wheels").glob("*.whl")))
    assert len(wheels) == len(PACKAGES)
    subprocess.run([*pip, "install", "--no-deps", "--target", str(folder / "site"), *wheels], check=True)
    return folder / "site"


@pytest.fixture
def attnx(installed, cli, monkeypatch):
    """The command line, where the plugins are installed."""
    monkeypatch.syspath_prepend(str(installed))
    before = set(sys.modules)
    yield cli
    for module in set(sys.modules) - before:
        if module.partition(".")[0] in {f"attnx_{name}" for name in PACKAGES}:
            del sys.modules[module]


def test_plugins_are_listed_with_their_versions(attnx):
    _, out, err = attnx("plugins")
    assert "sharp (attnx-sharp 0.1.0)" in out
    assert "1 projections, 1 metrics" in " ".join(out.split())
    for name, offers in (("quantus", "1 metrics"), ("owen", "1 importances"), ("polars", "1 adapters")):
        assert f"{name} (attnx-{name} 0.1.0) {offers}" in " ".join(out.split())
    assert not err


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


def test_a_plugin_of_a_library_is_described_without_it(attnx):
    for name in ("quantus-complexity", "shap-owen"):
        code, out, err = attnx("info", name)
        assert code == 0, err
        assert "options, e.g." in out
    assert not {"quantus", "shap"} & set(sys.modules)


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param("not slow", id="with stand-ins"),
        pytest.param("", id="with the libraries", marks=pytest.mark.slow),
    ],
)
def test_own_tests_of_the_plugins_pass(chosen, installed, tmp_path):
    options = ["-q", "-c", "/dev/null", "-W", "ignore", "-m", chosen]
    tests = [str(EXAMPLES / f"attnx-{name}" / "tests") for name in PACKAGES]
    code, out = forked_pytest([*options, *tests], [installed], ATTNX_HOME=str(tmp_path))
    assert code == 0, out
    assert ("17 passed" if chosen else "passed") in out
