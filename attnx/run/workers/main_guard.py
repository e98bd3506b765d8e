"""Whether worker processes can import the main module: each runs its top level again when it starts."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from types import FrameType


def main_is_unguarded() -> bool:
    """Whether this is called from the top level of a script, outside `if __name__ == "__main__":`.

    A worker process that imports such a script reaches the same call again, and dies of it. Workers import
    nothing if the main module has no file (an interactive session, `python -c`) or is a `__main__.py`.
    """
    main = sys.modules["__main__"]
    file, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
    if file is None or (spec is not None and spec.name.rpartition(".")[2] == "__main__"):
        return False
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals is vars(main):
            line = frame.f_lineno
            return not any(first <= line <= last for first, last in _guarded_lines(Path(file)))
        frame = frame.f_back
    return False


@cache
def _guarded_lines(script: Path) -> tuple[tuple[int, int], ...]:
    """The first and last lines of the blocks that run only in the main process."""
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError):  # compiled or frozen: nothing says that it is unguarded
        return ((1, sys.maxsize),)
    return tuple(
        (node.body[0].lineno, node.body[-1].end_lineno or sys.maxsize)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and _is_guard(node.test)
    )


def _is_guard(test: ast.expr) -> bool:
    """Whether a condition compares `__name__` with "__main__"."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq) or len(test.ops) > 1:
        return False
    sides = (test.left, *test.comparators)
    names = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return names and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
