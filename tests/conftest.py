"""What tests share: a home of their own, the command line in process, and plugins made on the spot."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cases import take_cases
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")  # however busy it is

for variable in (
    "ATTNX_DATA",
    "ATTNX_HOME",
    "ATTNX_KEEP_GB",
    "ATTNX_OFFLINE",
    "ATTNX_REGISTRY",
    "ATTNX_WITHOUT",
):
    os.environ.pop(variable, None)

# Settings and the list of fonts are those of this session: not the user's, and not made by another process.
_MATPLOTLIB = tempfile.TemporaryDirectory(prefix="attnx-matplotlib-")
os.environ["MPLCONFIGDIR"] = _MATPLOTLIB.name
THREADS = os.environ.get("OMP_NUM_THREADS", "1")  # of this process and of those that it starts
EMPTY = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>'
Cli = Callable[..., tuple[int, str, str]]
Install = Callable[..., Path]


gc.disable()  # until all tests are collected: what they import stays


def pytest_collection_finish() -> None:
    """Leave what is imported by now out of every collection of garbage from here on.

    The list of fonts is made first, because some tests forbid to open files.
    """
    importlib.import_module("matplotlib.font_manager")
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Whatever attnx keeps is kept in a folder of this session, in subprocesses too."""
    folder = tmp_path_factory.mktemp("attnx-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNX_HOME", str(folder))
        patch.setenv("OMP_NUM_THREADS", THREADS)
        yield folder


@pytest.fixture(scope="session", autouse=True)
def _threads() -> None:
    import torch

    torch.set_num_threads(int(THREADS))
    kinds: list[Any] = [torch.cuda, torch.xpu, torch.mtia]
    for kind in kinds:
        if not kind.is_available():  # each seed would be noted for one that may come, with a traceback
            kind.manual_seed_all = lambda seed: None


@pytest.fixture(scope="session", autouse=True)
def _every_clause_is_true() -> Iterator[None]:
    """Evaluate the predicate of every clause on every report that a test of this session computes."""
    from attnx.results.judgement.predicates import false_clauses
    from attnx.run import evaluation

    compute = evaluation.compute_report

    def checked(*args: Any, **settings: Any) -> Any:
        report = compute(*args, **settings)
        assert false_clauses(report) == []
        return report

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "compute_report", checked)
        yield


@pytest.fixture(autouse=True)
def _plain_figures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave figures empty where a test is not about them: drawing is most of the time of a small run."""
    if request.node.get_closest_marker("figures") or "views" in request.node.path.parts:
        return
    from attnx.views.figures import figure

    draw = figure._saved

    def saved(drawn: figure.ReportFigure, kind: str, **options: Any) -> bytes:
        return EMPTY if kind == "svg" else draw(drawn, kind, **options)

    monkeypatch.setattr(figure, "_saved", saved)


@pytest.fixture(autouse=True)
def _cases(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Note how many cases a test tried, in the JUnit file that docs/data/reliability.py reads."""
    yield
    if tried := take_cases():
        record_property("cases", tried)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ATTNX_HOME for one test, which does not exist yet."""
    folder = tmp_path / "home"
    monkeypatch.setenv("ATTNX_HOME", str(folder))
    return folder


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs the command line in this process: exit code, stdout, stderr."""
    from attnx.cli.app import main
    from attnx.cli.global_options import reset

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["attnx", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        reset()  # what --without and --debug said is of this command alone
        out, err = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code, out, err

    return run


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a distribution `attnx-NAME` with one plugin NAME, whose package is `NAME_plugin`."""
    before = set(sys.modules)

    def write(name: str, body: str, version: str = "1.2", **modules: str) -> Path:
        site = tmp_path / f"site-{name}"
        package, metadata = site / f"{name}_plugin", site / f"attnx_{name}-{version}.dist-info"
        package.mkdir(parents=True)
        metadata.mkdir()
        (package / "__init__.py").write_text(f"from attnx.plugin import Adapter, Card, hookimpl\n{body}\n")
        for module, text in modules.items():
            (package / f"{module}.py").write_text(text)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: attnx-{name}\nVersion: {version}\n")
        (metadata / "entry_points.txt").write_text(f"[attnx]\n{name} = {name}_plugin\n")
        monkeypatch.syspath_prepend(str(site))
        return package

    yield write
    for module in set(sys.modules) - before:
        if module.partition(".")[0].endswith("_plugin"):
            del sys.modules[module]


@pytest.fixture(params=["as it is", "other library"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The library of products that this processor gets, and oneDNN wherever torch has it."""
    import torch

    from attnx.formulas import products

    if request.param == "other library":
        if not hasattr(torch.ops.mkldnn, "_linear_pointwise") or not torch.backends.mkldnn.is_available():
            pytest.skip("torch has no oneDNN")
        monkeypatch.setattr(products, "_available", lambda: True)
        monkeypatch.setattr(products, "FEWEST", 1)
    return str(request.param)
