"""How much of every example is kept beside a report; apart from the spec, as help does without pydantic."""

from typing import Literal, get_args

Keep = Literal["none", "values", "all"]
LEVELS: tuple[Keep, ...] = get_args(Keep)  # each has what the one before it has
