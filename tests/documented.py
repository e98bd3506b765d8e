"""Commands of the documentation, run in this process and compared with what the page shows."""

import contextlib
import io
import os
import re
import shlex
import sys
from pathlib import Path
from unittest.mock import patch

from attnx.cli.app import main

ROOT = Path(__file__).parents[1]


def commands(block):
    """Every command of a block after `$ `, with the output that is shown below it."""
    for chunk in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = chunk.partition("\n")
        yield command, shown


def run(arguments):
    """Exit code and output of the command line in the folder of the project, at 100 columns."""
    output = io.StringIO()
    with (
        patch.object(sys, "argv", ["attnx", *arguments]),
        patch.dict(os.environ, {"COLUMNS": "100"}),
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        try:
            main()
        except SystemExit as left:
            return left.code, output.getvalue()
    raise AssertionError("the command line always exits")


def words_of(command, names=()):
    """The arguments of an attnx command, with names that stand for others replaced."""
    program, *arguments = shlex.split(command)
    assert program == "attnx", f"only attnx commands are run here, not {program}"
    return [dict(names).get(word, word) for word in arguments]


def assert_shown(shown, output):
    """Check that the lines appear in this order; `...` stands for any text."""
    lines = iter(output.splitlines())
    for line in (line.rstrip() for line in shown.splitlines() if line.strip()):
        pattern = ".*".join(re.escape(part) for part in line.split("..."))
        assert any(re.fullmatch(pattern, found.rstrip()) for found in lines), f"{line!r} not in\n{output}"
