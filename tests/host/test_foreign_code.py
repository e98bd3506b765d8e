"""Plugins that misbehave when they are imported, listed or called: one line, the plugin's name, no harm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from attnx.errors import MachineError
from attnx.host.catalog import Catalog
from attnx.host.foreign_code import ForeignError, call_foreign

Cli = Callable[..., tuple[int, str, str]]
Install = Callable[..., Path]

RAISED = [
    "GeneratorExit",
    "KeyboardInterrupt",
    "SystemExit",
    "BaseException",
    "StopIteration",
    "RecursionError",
]
RAISED += ["ImportError", "OSError", "Warning", "UnicodeError", "AssertionError"]
TASK = """
from attnx.plugin import Task
{before}
class Odd(Task):
    "An odd task."
    provides = ("words",)
    def load(self, source):
        from attnx.testing import toy_data
        {inside}
        return toy_data()
"""
CARD = "@hookimpl\ndef attnx_tasks():\n    return [Card('odd', 'odd_plugin.code:Odd')]\n"
ASKED = ("evaluate", "--task", "odd", "--model", "average-add", "--metric", "nnz", "--train", "epochs=1")


@pytest.mark.parametrize("raised", RAISED)
def test_whatever_an_import_or_a_hook_raises_is_the_plugins_failure(
    raised: str, install: Install, cli: Cli
) -> None:
    install("one", f"raise {raised}('odd')")
    install("two", f"@hookimpl\ndef attnx_tasks():\n    raise {raised}('odd')\n")
    code, out, err = cli("list", "tasks", "--json")
    assert code == 0
    assert json.loads(out)
    lines = err.splitlines()
    assert len(lines) == 2, err
    for line, name in zip(lines, ("one", "two"), strict=True):
        assert line.startswith(f"warning: Plugin {name} (attnx-{name} 1.2) is ignored: ")
        assert line.endswith(f"{raised}: odd") or raised == "StopIteration"


@pytest.mark.parametrize("raised", RAISED)
@pytest.mark.parametrize("where", ["before", "inside"])
def test_whatever_a_component_raises_is_its_failure(
    raised: str, where: str, install: Install, cli: Cli, home: Path
) -> None:
    if where == "inside" and raised in ("OSError", "KeyboardInterrupt"):
        return  # of the machine, e.g. a file that cannot be read, or of the person
    code_ = TASK.format(**{"before": "", "inside": "pass", where: f"raise {raised}('odd')"})
    install("odd", CARD, code=code_)
    code, out, err = cli(*ASKED)
    assert (code, out) == (3, "")
    (line,) = [one for one in err.splitlines() if one.startswith("error:")]
    assert "task 'odd'" in line
    assert f"{raised}: odd" in line
    assert "Traceback" not in err


@pytest.mark.parametrize("where", ["import", "hook", "component", "call"])
def test_what_a_plugin_prints_is_not_part_of_json(where: str, install: Install, cli: Cli, home: Path) -> None:
    said = "print('hello from a plugin')"
    hook = said if where == "hook" else "pass"
    install(
        "odd",
        f"{said if where == 'import' else ''}\n{CARD.replace('    return', f'    {hook}; return')}",
        code=TASK.format(
            before=said if where == "component" else "", inside=said if where == "call" else "pass"
        ),
    )
    code, out, err = cli(*ASKED, "--json")
    assert code == 0, err
    assert json.loads(out)["labels"]["task"] == "odd"
    assert "hello from a plugin" in err


@pytest.mark.parametrize("where", ["import", "hook"])
def test_a_plugin_that_changes_the_folder_moves_no_path(
    where: str, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    move = "import os; os.chdir('/')"
    hook = CARD.replace("    return", f"    {move if where == 'hook' else 'pass'}; return")
    install("odd", f"{move if where == 'import' else ''}\n{hook}", code=TASK.format(before="", inside="pass"))
    assert Catalog.installed().find("task", "odd").name == "odd"
    assert Path.cwd() == tmp_path / "here"


def test_a_component_whose_import_changes_the_folder_moves_no_path(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    install("odd", CARD, code=TASK.format(before="import os; os.chdir('/')", inside="pass"))
    Catalog.installed().find("task", "odd").load()
    assert Path.cwd() == tmp_path


def test_ctrl_c_while_plugins_are_imported_is_an_interrupt(install: Install, cli: Cli) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # an earlier test may have ignored it
    install("odd", "import os, signal; os.kill(os.getpid(), signal.SIGINT)\nfor _ in range(10**9): pass")
    code, out, err = cli("list", "tasks")
    assert (code, out) == (130, "")
    assert err.startswith("error: Interrupted.")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
        ImportError("libx.so: cannot allocate memory in static TLS block"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    ],
)
def test_memory_that_runs_out_during_an_import_is_the_machines(error: Exception) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(MachineError, match="Not enough memory"):
        call_foreign(fail)


def test_other_errors_are_foreign() -> None:
    with pytest.raises(ForeignError, match="ZeroDivisionError: division by zero"):
        call_foreign(lambda: 1 / 0)
    with pytest.raises(ForeignError, match="ModuleNotFoundError"):
        call_foreign(lambda: __import__("no.such.module"))
    assert call_foreign(lambda: 7) == 7


@pytest.mark.slow
def test_little_memory_is_never_blamed_on_the_model(tmp_path: Path) -> None:
    """Addresses for 0.2 to 1.1 GB: too few to load the libraries, or to train."""
    asked = [*ASKED[:2], "sdc-2d:train=20,dev=10,test=10", "--metric", "nnz", "--train", "epochs=1"]
    for megabytes in range(200, 1100, 150):
        ended = subprocess.run(
            ["prlimit", f"--as={megabytes * 10**6}", sys.executable, "-m", "attnx", *asked],
            env=os.environ | {"ATTNX_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        assert ended.returncode in (0, 1, 5, 127, -11), ended.stderr  # 1: OpenBLAS ends the process itself
        if ended.returncode == 5:
            assert "Not enough memory" in ended.stderr
        assert "Traceback" not in ended.stderr or ended.returncode != 5
