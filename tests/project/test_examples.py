"""Every script of examples/ runs to its end, here on a few sentences instead of its data."""

import runpy
import sys
from pathlib import Path

import pytest

import attnx
from attnx.api.reproduce import reproduce_plan
from attnx.host.catalog import Catalog
from attnx.registry.experiments import Size
from attnx.request.experiment import plan_experiment
from attnx.run.workers.executors import Workers

# Scripts that take a checkpoint are run with tiny ones, next to the tests of their models.
SCRIPTS = [
    script
    for script in sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
    if "CHECKPOINT" not in script.read_text(encoding="utf-8")
]
WORDS = "sdc-text:train=60,dev=30,test=120"
evaluate = attnx.evaluate


def small(model):
    """The model, small where it is one of text."""
    if model is None or model.startswith("fcam"):
        return "fcam" if model is None else model
    return f"{model}:embedding=8,hidden=8"


def quick_evaluate(task, model=None, **settings):
    settings |= {"limit": None, "data_dir": None, "progress": False}
    if not isinstance(model, str | None):  # an object, trained already
        return evaluate(WORDS, model, **settings)
    settings |= {"training": {"epochs": 1}}
    if task.startswith("csv:"):  # a file that the script has made
        return evaluate(task, model, **settings)
    task = task if task.startswith("sdc") else WORDS
    return evaluate(task.partition(":")[0] + ":train=60,dev=30,test=120", small(model), **settings)


def quick_reproduce(name):
    few = Size(tasks={"sdc-error-mode-1": "test=50"}, training={"epochs": 1}, seeds="0-1")
    experiment = attnx.experiment(name).model_copy(update={"standard": few})
    return reproduce_plan(
        plan_experiment(name, experiment), Catalog.installed(), workers=Workers("in-process")
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_runs(script, monkeypatch, capsys):
    monkeypatch.setattr(attnx, "evaluate", quick_evaluate, raising=False)
    monkeypatch.setattr(attnx, "reproduce", quick_reproduce, raising=False)
    monkeypatch.setattr(sys, "argv", [str(script), *arguments(script)])
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    assert "nan" not in printed
    assert len(printed.splitlines()) > 3
    assert len(script.read_text(encoding="utf-8").splitlines()) < 60


def arguments(script):
    """A data directory that is not looked at, and one seed, for the scripts that take them."""
    return ["nowhere", "1"] if "DATA_DIR" in script.read_text(encoding="utf-8") else []
