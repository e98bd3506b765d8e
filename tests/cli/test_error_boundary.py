"""Whatever goes wrong is one line with the right exit code, and --debug shows the rest."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import typer

from attnx.cli.app import app
from attnx.cli.error_boundary import answer
from attnx.cli.global_options import add_global_options
from attnx.errors import FAULT, AttnxWarning

ATTNX = f"{sys.executable} -c 'from attnx.cli.app import main; main()'"
CARDS = """
@hookimpl
def attnx_metrics():
    return [Card("odd", "odd_plugin.odd:Odd")]
"""
METRIC = """
from attnx.plugin import Measure, Metric

class Odd(Metric):
    \"\"\"Odd numbers.\"\"\"

    family = "shape"
    sees = "scores"
    measures = (Measure("odd", "none", (0, 1)),)

    def __call__(self, evidence):
        {body}
"""


def one_line(err: str) -> str:
    (line,) = [line for line in err.splitlines() if line.startswith("error:")]
    assert "Traceback" not in err
    return line


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 5, "No space left on device. Free some space"),
        (PermissionError(errno.EACCES, "Permission denied", "/there"), 5, "'/there': Permission denied"),
        (MemoryError(), 5, "Not enough memory."),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: allocate 50000000000 bytes"), 5, "50 GB"),
        (
            ZeroDivisionError("none"),
            FAULT,
            "Internal error in attnx, please report it: ZeroDivisionError: none",
        ),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates"), 2, "is not valid UTF-8"),
        (KeyboardInterrupt(), 130, "Interrupted"),
    ],
)
def test_an_error_is_one_line_and_its_code(
    cli: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("attnx.components.list", fail)
    found, out, err = cli("list")
    assert (found, out) == (code, "")
    assert said in one_line(err)
    if code in (5, FAULT):
        assert "Traceback" in cli("--debug", "list")[2]
        assert "Traceback" in cli("list", "--debug")[2]


def test_memory_that_ends_while_an_error_is_reported_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("attnx.cli.error_boundary._as_attnx_error", fail)
    monkeypatch.setattr("os._exit", sys.exit)  # this process is needed
    with pytest.raises(SystemExit) as left:
        answer(fail)
    assert left.value.code == 5
    assert capfd.readouterr().err == "error: Not enough memory.\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise SystemExit(0)", "metric 'odd' of plugin odd (attnx-odd 1.2) failed: SystemExit: 0"),
        ("raise RecursionError('deep')", "RecursionError: deep"),
    ],
)
def test_a_plugin_that_leaves_is_named(cli: Any, install: Any, home: Path, body: str, said: str) -> None:
    install("odd", CARDS, odd=METRIC.format(body=body))
    code, out, err = cli(
        *("evaluate", "--task", "sdc-error-mode-1:train=20,dev=20,test=20"),
        *("--train", "epochs=1", "--metric", "odd"),
    )
    assert (code, out) == (3, "")
    assert said in one_line(err)


def test_a_plugin_that_leaves_when_it_is_listed_is_named(cli: Any, install: Any) -> None:
    install("leaver", "import sys\n@hookimpl\ndef attnx_metrics():\n    sys.exit(0)\n")
    code, out, err = cli("list")
    assert "leaver" in err
    assert "Traceback" not in err
    assert code == 3 or "sdc-2d" in out


@pytest.mark.parametrize("size", [10**8, 10**16, 10**20])
def test_a_model_that_does_not_fit_is_said(cli: Any, home: Path, size: int) -> None:
    model = f"bilstm:embedding={size}"
    code, out, err = cli("evaluate", "--task", "planted-pronouns", "--limit", "20", "--model", model)
    assert (code, out) == (5, "")
    assert one_line(err).startswith("error: Not enough memory")


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("list > /dev/full", 5, "No space left on device"),
        ("list >&-", 5, "Standard output is closed"),
        ("list --no 2>&-", 2, ""),
        ("runs --out $(printf 'a\\377')", 2, "is not valid UTF-8"),
    ],
)
def test_outputs_and_names_that_cannot_be_used(command: str, code: int, said: str) -> None:
    ended = subprocess.run(
        ["bash", "-c", f"{ATTNX} {command}"], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"}
    )
    assert (ended.returncode, ended.stdout) == (code, "")
    if said:
        assert said in one_line(ended.stderr)


def leaves(command: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The words of every command, groups included."""
    inner = getattr(command, "commands", {})
    return [path, *(words for name, one in inner.items() for words in leaves(one, (*path, name)))]


@pytest.mark.parametrize("words", leaves(typer.main.get_command(app)), ids=" ".join)
def test_every_command_takes_debug_and_without(cli: Any, words: tuple[str, ...]) -> None:
    code, out, _ = cli(*words, "--help")
    assert code == 0
    assert "--debug" in out
    assert "--without PLUGIN" in out


def test_the_global_options_work_before_and_after_the_command(cli: Any) -> None:
    for arguments in (
        ("--without", "projections", "list", "projections"),
        ("list", "projections", "--without", "projections"),
        ("list", "--without=projections", "projections"),
    ):
        code, out, _ = cli(*arguments)
        assert (code, "sparsemax" in out) == (0, False)
    both = cli("--without", "projections", "list", "--without", "sdc")[1]
    assert "sparsemax" not in both
    assert "sdc-2d" not in both
    assert "sparsemax" in cli("list", "projections")[1]  # nothing is left of the commands before
    for arguments in (("--debug", "info", "no-such"), ("info", "no-such", "--debug"), ("info", "no-such")):
        assert ("Traceback" in cli(*arguments)[2]) == ("--debug" in arguments)
    assert "Traceback" not in cli("info", "--", "--debug")[2]  # a name, not the option


def test_adding_the_global_options_adds_each_once() -> None:
    command = add_global_options(typer.main.get_command(app))
    for one in (command, command.commands["data"], command.commands["data"].commands["fetch"]):
        given = [name for option in one.params for name in option.opts]
        assert given.count("--debug") == given.count("--without") == 1


def test_each_warning_of_ours_is_shown_once_as_one_line(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(_: object) -> Any:
        for text in (
            "The first\nfile is damaged.",
            "The second file is damaged.",
            "The second file is damaged.",
        ):
            warnings.warn(text, AttnxWarning, stacklevel=1)  # all of the same line of code
        raise ZeroDivisionError

    monkeypatch.setattr("attnx.host.catalog.Catalog.installed", warn)
    for _ in range(2):  # a second command shows them again
        _, _, err = cli("list")
        shown = [line for line in err.splitlines() if line.startswith("warning:")]
        assert shown == ["warning: The first file is damaged.", "warning: The second file is damaged."]


def test_a_warning_of_ours_outside_the_command_line_obeys_the_usual_filters() -> None:
    with pytest.raises(AttnxWarning):  # this suite turns warnings into errors
        warnings.warn("something", AttnxWarning, stacklevel=1)
