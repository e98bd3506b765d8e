"""Options that say one thing, said twice: what anyone types to compare, and what would lose the first."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..errors import UsageError

GRID = {"--task", "--model", "--projection", "--train"}  # what a sweep takes several of


def refuse_repeats(command: Any, arguments: Sequence[str]) -> None:
    """Refuse an option that is given twice where one is meant; the last would silently win."""
    said = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    for word in said:
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
    counts = Counter(word.partition("=")[0] for word in said)
    for name in (name for name in single if name.startswith("--")):
        if counts[name] > 1:
            where = (
                "'attnx sweep' takes several, and 'attnx compare' compares runs"
                if name in GRID
                else "give it once"
            )
            raise UsageError(f"{name} is given {counts[name]} times and means one thing: {where}.")
