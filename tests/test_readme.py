"""Every command of the documentation runs, and prints what the documentation says it prints.

A line `$ command` in a console block is run; the lines below it must appear in its output in this
order. `...` stands for any text. Commands that install or fetch are run by make, not here.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
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
    run = [sys.executable, "-c", "from attnx.cli import main; main()", *arguments]
    result = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False)
    output = result.stdout + result.stderr
    assert "Traceback" not in output
    wanted = [line.rstrip() for line in shown.splitlines() if line.strip()]
    if not any(line.startswith("error:") for line in wanted):
        assert result.returncode == 0, output
    lines = iter(output.splitlines())
    for line in wanted:
        pattern = ".*".join(re.escape(part) for part in line.split("..."))
        assert any(re.fullmatch(pattern, found.rstrip()) for found in lines), f"{line!r} not in\n{output}"


def test_python_examples_of_the_readme_run(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        result = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
