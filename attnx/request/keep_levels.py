"""How much of each example is stored; in a module of its own, so that help needs no pydantic."""

from typing import Literal, get_args

Keep = Literal["none", "values", "all"]
LEVELS: tuple[Keep, ...] = get_args(Keep)  # each includes the one before it
