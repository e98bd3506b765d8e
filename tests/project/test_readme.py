"""Every command of the documentation runs, and prints what the documentation says it prints.

A line `$ command` in a console block is run; the lines below it must appear in its output in this
order. `...` stands for any text. Commands that install or fetch are run by make, not here; those that
take longer than a test may stand in blocks of `sh`.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attnx.data.loading import Source
from attnx.host.catalog import Catalog
from attnx.progress import Progress
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx.run.lab import Lab
from attnx.store.weights import Weights
from attnx.testing import check

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = ("pip ", "make ", "git ", "python ", ".venv/bin/python ", "cd ")


def commands():
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for chunk in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = chunk.partition("\n")
                if not command.startswith(ELSEWHERE):
                    yield pytest.param(command, shown, id=f"{page.name}: {command}")


@pytest.mark.parametrize(("command", "shown"), commands())
def test_documented_command_prints_what_is_shown(command, shown, tmp_path):
    program, *arguments = shlex.split(command)
    assert program == "attnx", f"only attnx commands are run here, not {program}"
    run = [sys.executable, "-c", "from attnx.cli.app import main; main()", *arguments]
    wide = {**os.environ, "COLUMNS": "100"}  # whatever terminal the tests are run in
    result = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False, env=wide)
    output = result.stdout + result.stderr
    assert "Traceback" not in output
    wanted = [line.rstrip() for line in shown.splitlines() if line.strip()]
    if not any(line.startswith("error:") for line in wanted):
        assert result.returncode == 0, output
    lines = iter(output.splitlines())
    for line in wanted:
        pattern = ".*".join(re.escape(part) for part in line.split("..."))
        assert any(re.fullmatch(pattern, found.rstrip()) for found in lines), f"{line!r} not in\n{output}"


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def test_components_of_the_plugin_guide_work():
    guide = {}
    for block in blocks("docs/plugins.md"):
        if "class " in block:
            exec(block, guide)
    check("metric", guide["TopShare"]())
    catalog = Catalog.installed()
    spec = RunSpec.model_validate(
        {"task": "sdc-2d:train=60,dev=30,test=40", "training": {"epochs": 1}, "seeds": (0, 1)}
    )
    plan = resolve(spec, catalog)
    cpu = torch.device("cpu")
    lab = Lab(spec, plan, plan.task, catalog, cpu, Source(), Weights(), Progress("off"))
    (finding,) = guide["SparseGap"]()(lab)
    assert finding.values.shape == (2, 40)


def test_python_examples_of_the_readme_run(tmp_path):
    assert blocks("README.md")
    for block in blocks("README.md"):
        result = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
