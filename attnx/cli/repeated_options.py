"""Refuses an option that is given twice but takes one value: the last would silently win."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..errors import UsageError

GRID = {"--task", "--model", "--projection", "--train"}  # a sweep takes several of each


def refuse_repeats(command: Any, arguments: Sequence[str]) -> None:
    """Refuse an option that is given twice but takes one value."""
    words = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    for word in words:
        inner = getattr(command, "commands", {}).get(word)
        if inner is not None:
            command = inner
    single = {
        name: option
        for option in command.params
        for name in option.opts
        if name.startswith("--")
        and not getattr(option, "multiple", False)
        and not getattr(option, "is_flag", 0)
    }
    counts = Counter(word.partition("=")[0] for word in words)
    for name in single:
        if counts[name] > 1:
            where = "Use 'attnx sweep' for several values." if name in GRID else "Give it once."
            times = "twice" if counts[name] == 2 else f"{counts[name]} times"
            raise UsageError(f"{name} was given {times} but takes one value. {where}")
