"""pytest in a copy of this process, with the libraries loaded: starting Python takes most of the time."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

import pytest


def forked_pytest(
    arguments: Sequence[str], paths: Sequence[Path] = (), **environment: str
) -> tuple[int, str]:
    """Run pytest with paths to import from and variables of the environment; its exit code and output."""
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                sys.stdout = sys.stderr = os.fdopen(1, "w")
                os.environ.update(environment)
                os.environ.pop("PYTEST_XDIST_WORKER", None)
                sys.path[:0] = map(str, paths)
                for name in [name for name in sys.modules if name.startswith(("test_", "conftest"))]:
                    del sys.modules[name]
                code = pytest.main([*arguments, "-p", "no:cacheprovider", "-p", "no:xdist"])
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        return status, output.read()
