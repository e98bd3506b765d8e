"""Keeps what plugins print out of the results on stdout."""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def prints_aside(work: Callable[P, R]) -> Callable[P, R]:
    """The same function; what is printed meanwhile goes to stderr, so that --json stays JSON."""

    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with redirect_stdout(sys.stderr):
            return work(*args, **kwargs)

    return run
