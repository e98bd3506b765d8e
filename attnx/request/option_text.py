"""Options as text, in both directions: key=value,key="a value, with a comma"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError

# A key up to "=", then a value in double quotes, in which "" stands for one, or a value up to a comma.
_ITEM = re.compile(
    r"""(?P<key>[^=,]*)=\s*+(?:"(?P<quoted>(?:[^"]|"")*+)"\s*|(?P<plain>(?!")[^,]*))(?:,|$)""", re.DOTALL
)


def read_options(text: str, whole: str) -> dict[str, str]:
    """Read options; an error shows the whole text that they are part of."""
    options: dict[str, str] = {}
    position = 0
    while position < len(text):
        if text[position] == ",":
            position += 1
            continue
        found = _ITEM.match(text, position)
        key = found["key"].strip() if found else ""
        if found is None or not key:
            raise UsageError(
                f"Cannot read '{_rest(text, position)}' in '{whole}'. Write options as "
                "NAME:key=value,key=value. A value with a comma must be in double quotes: 'key=\"a,b\"'."
            )
        if key in options:
            raise UsageError(f"Option '{key}' is given twice in '{whole}'.")
        quoted = found["quoted"]
        options[key] = found["plain"].strip() if quoted is None else quoted.replace('""', '"')
        position = found.end()
    return options


def write_options(options: Mapping[str, Any]) -> str:
    """Write options so that `read_options` gives them back; the items of a tuple are joined by +."""
    return ",".join(f"{key}={_written(value)}" for key, value in options.items())


def choice_label(name: str, options: Mapping[str, Any]) -> str:
    """A name with its options as a person types them; either may be empty."""
    return ":".join(filter(None, (name, write_options(options))))


def _written(value: Any) -> str:
    text = "+".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    if "," in text or text.startswith('"') or text != text.strip():
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text


def _rest(text: str, position: int) -> str:
    """What stands at a position: all of it if a quote may have been left open, else up to a comma."""
    rest = text[position:]
    return rest if '="' in "".join(rest.split()) else rest.partition(",")[0]
