"""JSON lines: one object a line."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from attnx import DataError

from ..label_names import nearest
from ..rows import Row, RowStream
from .text_file import read_lines


def read_jsonl(path: Path, text: str = "text", label: str = "label", rationale: str = "") -> RowStream:
    """Rows of a file of objects; a blank line is passed over."""
    index = 0
    with closing(read_lines(path)) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            where = f"'{path}', line {number}"
            found = _object(line, where)
            yield Row(
                index,
                number,
                _text(_value(found, text, where), text, where),
                _label(_value(found, label, where), label, where),
                found.get(rationale) if rationale else None,
            )
            index += 1


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}, column {error.colno}: not JSON: {error.msg}.") from error
    except RecursionError as error:
        raise DataError(f"{where}: not a flat object, but nested very deeply.") from error
    if not isinstance(found, dict):
        raise DataError(f"{where}: a JSON object is needed, not a {type(found).__name__}.")
    return found


def _value(found: dict[str, Any], key: str, where: str) -> Any:
    if key not in found:
        keys = ", ".join(f"'{other}'" for other in found) or "none"
        raise DataError(f"{where}: there is no key '{key}'.{nearest(key, found)} Keys: {keys}.")
    return found[key]


def _text(value: Any, key: str, where: str) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(word, str) and word.strip() for word in value):
        return tuple(value)
    raise DataError(f"{where}: '{key}' must be a string, or a list of words that are not empty.")


def _label(value: Any, key: str, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | str) and str(value).strip():
        return str(value).strip()
    raise DataError(f"{where}: '{key}' must be a string or a whole number, and not empty.")
