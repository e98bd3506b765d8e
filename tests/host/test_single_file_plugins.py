"""Plugins that are a single file: found only when asked for, named by content, and attributed to the file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import attnx
from attnx.data.access import Source
from attnx.host.catalog import Catalog
from attnx.host.class_cards import component_name
from attnx.host.plugin_files import forget_files, used_files
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx.run.device import choose_device
from attnx.run.workers.jobs import WorkerSetup, prepared
from attnx.store.identity import plugins_used, run_name, software_name

Cli = Callable[..., tuple[int, str, str]]

METRIC = '''
import torch
from pydantic import Field

from attnx.plugin import Evidence, Measure, Metric, Options


class TopPartOptions(Options):
    top: int = Field(1, ge=1, description="how many units count")


class _Share(Metric):
    """Hidden from users."""

    family = "shape"


class TopPart(_Share):
    """Share of the explanation that its top units hold."""

    measures = (Measure("top-part", "none", (0, 1)),)

    def __init__(self, options: TopPartOptions) -> None:
        self.top = options.top

    def __call__(self, evidence: Evidence) -> torch.Tensor:
        size = evidence.explanation.values.abs()
        total = size.sum(1)
        top = size.topk(min(self.top, size.shape[1]), 1).values.sum(1)
        return top / total.masked_fill(total == 0, torch.nan)
'''
HOOKS = f"""
from attnx.plugin import Card, hookimpl
{METRIC}

@hookimpl
def attnx_metrics():
    options = f"{{__name__}}:TopPartOptions"
    return [Card("renamed", f"{{__name__}}:TopPart", options=options, citation="a page")]
"""


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ATTNX_PLUGINS", raising=False)
    yield
    forget_files()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plugins" / "top_part.py"
    path.parent.mkdir()
    path.write_text(METRIC)
    return path


def planned(metric: str) -> attnx.request.plan.Plan:  # type: ignore[name-defined]
    asked = {"task": "sdc-2d:train=20,dev=10,test=10", "metrics": metric, "training": {"epochs": 1}}
    return resolve(RunSpec.model_validate(asked), Catalog.installed())


def test_a_file_is_used_by_name_with_its_options(file: Path, cli: Cli) -> None:
    code, out, err = cli("info", "top-part", "--plugin", str(file))
    assert code == 0, err
    assert "provided by top_part (top_part.py " in " ".join(out.split())
    assert "top  int, default 1: how many units count" in out
    code, out, err = cli(
        "--plugin", str(file), "evaluate", "--task", "sdc-2d:train=20,dev=10,test=10",
        "--metric", "top-part:top=2", "--train", "epochs=1",
    )  # fmt: skip
    assert code == 0, err
    assert "top-part:top=2" in out
    assert cli("info", "top-part")[0] == 2, "the option is of one command alone"


def test_a_file_keeps_the_laws(file: Path, cli: Cli) -> None:
    code, out, _ = cli("check", "top_part", "--plugin", str(file))
    assert code == 0, out
    assert "declarations         ok" in out


def test_a_copy_of_a_file_that_was_edited_since_is_read_itself(file: Path, tmp_path: Path, cli: Cli) -> None:
    assert cli("info", "top-part", "--plugin", str(file))[0] == 0
    copy = tmp_path / file.name
    copy.write_text(METRIC)
    file.write_text(METRIC.replace("Share of", "Part of"))
    code, out, _ = cli("check", "top_part", "--plugin", str(copy))
    assert code == 0, out


def test_classes_are_read_without_importing_the_file(file: Path) -> None:
    file.write_text(f"{METRIC}\nraise RuntimeError('imported')\n")
    attnx.components.use(file)
    (found,) = [one for one in attnx.components.list("metrics") if one.name == "top-part"]
    assert found.summary == "Share of the explanation that its top units hold."


def test_hooks_of_a_file_are_used_as_those_of_a_package(file: Path) -> None:
    file.write_text(HOOKS)
    attnx.components.use(file)
    (found,) = attnx.components.info("renamed")
    assert found.citation == "a page"  # type: ignore[union-attr]
    assert not [one for one in attnx.components.list("metrics") if one.name == "top-part"]


def test_every_file_of_a_folder_is_a_plugin(file: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (file.parent / "_shared.py").write_text("x = (")
    (file.parent / "test_top_part.py").write_text("x = (")
    monkeypatch.setenv("ATTNX_PLUGINS", str(file.parent))
    _, out, err = cli("plugins")
    assert "top_part (top_part.py " in out
    assert not err


def test_nothing_is_loaded_from_the_current_folder(
    file: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    assert "top_part" not in cli("plugins")[1]


def test_a_file_can_be_switched_off(file: Path, cli: Cli) -> None:
    code, _, err = cli("info", "top-part", "--plugin", str(file), "--without", "top_part")
    assert code == 2
    assert "top-part" in err


def test_content_and_not_place_names_a_run(file: Path, tmp_path: Path) -> None:
    attnx.components.use(file)

    def name() -> tuple[str, str]:
        plan = planned("top-part")
        return run_name(plan, Source(), choose_device("cpu")), plugins_used(plan.parts)[-1].version

    first = name()
    assert name() == first
    elsewhere = tmp_path / "elsewhere" / "top_part.py"
    elsewhere.parent.mkdir()
    elsewhere.write_text(METRIC)
    forget_files()
    attnx.components.use(elsewhere)
    assert name() == first
    elsewhere.write_text(METRIC.replace("total == 0", "total <= 0"))
    assert name() != first


def test_an_edited_file_is_used_as_it_is_now(file: Path) -> None:
    attnx.components.use(file)
    assert Catalog.installed().find("metric", "top-part").load().family == "shape"
    file.write_text(METRIC.replace('"shape"', '"erasure"').replace("Share of", "Part of"))
    found = Catalog.installed().find("metric", "top-part")
    assert found.load().family == "erasure"
    assert found.summary.startswith("Part of")


def test_a_worker_gets_the_files_of_its_driver(file: Path) -> None:
    attnx.components.use(file)
    plan, software = planned("top-part"), software_name(planned("top-part"))
    setup = WorkerSetup(home="", mark="", data_dir=None, without=(), keep="none")
    forget_files()  # another process has not named the file
    found, _, _ = prepared(plan.spec.model_dump_json(), software, setup)
    assert any(part.label.startswith("top-part") for part in found.parts)
    assert used_files() == (str(file.resolve()),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class X(:\n", "SyntaxError"),
        ("x = 1\n", "has no class of attnx.plugin"),
        ("class A(A):\n    pass\n", "top_part"),
        (
            "import no_such_thing\nfrom attnx.plugin import hookimpl\ndef attnx_metrics():\n    return []\n",
            "import failed",
        ),
    ],
)
def test_a_broken_file_that_was_named_is_an_error_of_that_file(
    text: str, reason: str, file: Path, cli: Cli
) -> None:
    file.write_text(text)
    code, _, err = cli("list", "metrics", "--plugin", str(file))
    assert code == 3
    assert err.startswith("error: Plugin top_part (top_part.py ")
    assert reason in err


def test_a_broken_file_of_a_folder_is_one_warning(
    file: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("class X(:\n")
    monkeypatch.setenv("ATTNX_PLUGINS", str(file.parent))
    code, _, err = cli("list", "projections")
    assert code == 0
    assert "Plugin top_part (top_part.py " in err
    assert f"{file.resolve()}:1" in err


def test_what_a_file_raises_in_a_run_names_the_file(file: Path, cli: Cli) -> None:
    file.write_text(METRIC.replace("total = size.sum(1)", "total = no_such_name"))
    code, _, err = cli(
        "evaluate", "--plugin", str(file), "--task", "sdc-2d:train=20,dev=10,test=10",
        "--metric", "top-part", "--train", "epochs=1",
    )  # fmt: skip
    assert code == 3
    assert "top_part (top_part.py " in err
    assert "no_such_name" in err


@pytest.mark.parametrize(
    ("named", "reason"),
    [("top_prt.py", "does not exist. Did you mean"), ("plugins", "is not a plugin: name a Python file")],
)
def test_a_wrong_path_is_a_usage_error(named: str, reason: str, file: Path, cli: Cli) -> None:
    path = file.parent / named if named.endswith(".py") else file.parent
    code, _, err = cli("list", "--plugin", str(path))
    assert code == 2
    assert reason in err


def test_a_missing_folder_is_a_usage_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNX_PLUGINS", "no-such-folder")
    code, _, err = cli("list")
    assert code == 2
    assert "ATTNX_PLUGINS names the folder 'no-such-folder', which does not exist." in err


def test_listing_a_file_imports_no_torch(file: Path) -> None:
    code = (
        "import sys, attnx; attnx.components.use(sys.argv[1]); "
        "assert any(n.name == 'top-part' for n in attnx.components.list('metrics')); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], check=True)


@pytest.mark.parametrize(
    ("class_name", "name"),
    [("TopShare", "top-share"), ("MLPModel", "mlp-model"), ("Top2", "top2"), ("Half_Way", "half-way")],
)
def test_a_component_is_called_as_its_class(class_name: str, name: str) -> None:
    assert component_name(class_name) == name


def test_the_trace_has_every_hook_with_its_time_and_place(file: Path, cli: Cli) -> None:
    _, out, _ = cli("plugins", "--trace", "--json", "--plugin", str(file))
    found = {plugin["name"]: plugin for plugin in json.loads(out)}
    calls = {call["hook"]: call for call in found["sdc"]["calls"]}
    assert calls["import"]["origin"].endswith("attnx_sdc/__init__.py:1")
    assert calls["attnx_tasks"]["offered"] == found["sdc"]["counts"]["tasks"]
    assert all(call["seconds"] >= 0 for call in calls.values())
    (classes,) = found["top_part"]["calls"]
    assert (classes["hook"], classes["offered"]) == ("classes", 1)
    assert classes["origin"] == f"{file.resolve()}:1"
    _, text, _ = cli("plugins", "--trace")
    assert "attnx_tasks" in text
    assert "all together" in text
    assert json.loads(cli("plugins", "--json")[1])[0]["calls"] == []


def test_a_file_that_python_cannot_parse_for_its_depth_is_named(tmp_path: Path, cli: Cli) -> None:
    deep = tmp_path / "deep.py"
    deep.write_text(f"value = {100_000 * '-'}1")
    code, out, err = cli("list", "metrics", "--plugin", str(deep))
    assert (code, out) == (3, "")
    assert "deep.py" in err
    assert "memory" not in err
