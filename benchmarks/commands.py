"""The command line as a benchmark runs it: in a process of its own, or here at the tiny size of a test."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch


def attnx(*arguments: str, home: Path, tiny: bool = False, settings: Mapping[str, str] | None = None) -> str:
    """Stdout of a command that succeeds.

    Starting a process and its libraries takes a hundred times longer than a tiny command.
    """
    settings = {**(settings or {}), "ATTNX_HOME": str(home)}
    if tiny:
        return _here(arguments, settings)
    done = subprocess.run(
        [sys.executable, "-m", "attnx", *arguments],
        env={**os.environ, **settings},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def _here(arguments: tuple[str, ...], settings: Mapping[str, str]) -> str:
    from attnx.cli.app import main

    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["attnx", *arguments]),
        patch.dict(os.environ, settings),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as left:
            if left.code:
                raise RuntimeError(err.getvalue()) from None
    return out.getvalue()
