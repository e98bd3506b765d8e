"""Every command of the documentation runs, and prints what the documentation says it prints.

A line `$ command` in a console block is run; the lines below it must appear in its output in this
order. `...` stands for any text. Commands that install or fetch are run by make, not here; those that
take longer than a test may stand in blocks of `sh`.
"""

import re

import pytest
import torch
from documented import ROOT, assert_shown, commands, run, words_of

import attnx
from attnx.data.loading import Source
from attnx.host.catalog import Catalog
from attnx.progress import Progress
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx.run.lab import Lab
from attnx.store.weights import Weights
from attnx.testing import assert_conforms

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = ("pip ", "make ", "git ", "python ", ".venv/bin/python ", "cd ")


def documented():
    """The commands of each block with what it shows: those of a block build on each other."""
    for page in PAGES:
        for number, block in enumerate(
            re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        ):
            given = [one for one in commands(block) if not one[0].startswith(ELSEWHERE)]
            if given:
                yield pytest.param(given, id=f"{page.name} {number}: {given[0][0]}")


@pytest.mark.parametrize("given", documented())
def test_documented_commands_print_what_is_shown(given):
    for command, shown in given:
        code, output = run(words_of(command))
        assert "Traceback" not in output
        refused = any(line.startswith("error:") for line in shown.splitlines())
        assert (code != 0) == refused, output
        assert_shown(shown, output)


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def test_components_of_the_plugin_guide_work():
    guide = {}
    for block in blocks("docs/plugins.md"):
        if "class " in block:
            exec(block, guide)
    assert_conforms("metric", guide["TopShare"]())
    assert_conforms("importance", guide["Saliency"]())
    assert_conforms("importance", guide["Position"]())
    assert_conforms("metric", guide["EarlyShare"]())
    catalog = Catalog.installed()
    spec = RunSpec.model_validate(
        {"task": "sdc-2d:train=60,dev=30,test=40", "training": {"epochs": 1}, "seeds": (0, 1)}
    )
    plan = resolve(spec, catalog)
    cpu = torch.device("cpu")
    lab = Lab(spec, plan, plan.task, catalog, cpu, Source(), Weights(), Progress("off"))
    (finding,) = guide["SparseGap"]()(lab)
    assert finding.values.shape == (2, 40)


def test_python_examples_of_the_readme_run():
    assert blocks("README.md")
    for block in blocks("README.md"):
        exec(block, {})


def test_every_kind_of_input_works_as_documented(monkeypatch):
    monkeypatch.chdir(ROOT)
    shared = {}
    for block in blocks("docs/inputs.md"):
        exec(block, shared)
    assert len(blocks("docs/inputs.md")) == 7
    assert shared["report"].quality
    assert len(shared["found"]) == 2


def test_python_of_the_page_about_runs_works(home):
    attnx.evaluate("sdc-2d:train=8,dev=4,test=4", training={"epochs": 1}, metrics="nnz", progress=False)
    (block,) = blocks("docs/runs.md")
    shared = {}
    exec(block, shared)
    assert shared["run"].labels["task"] == "sdc-2d:train=8,dev=4,test=4"
    assert shared["unused"] == []
