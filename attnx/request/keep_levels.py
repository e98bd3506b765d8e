"""How much of each example is stored; in a module of its own, so that help needs no pydantic."""

from typing import Literal, get_args

from ..errors import UsageError

Keep = Literal["none", "values", "all"]
LEVELS: tuple[Keep, ...] = get_args(Keep)  # each includes the one before it


def check_level(level: str) -> None:
    """Refuse a level that does not exist."""
    if level not in LEVELS:
        raise UsageError(f"keep='{level}' is unknown: choose one of {', '.join(LEVELS)}.")
