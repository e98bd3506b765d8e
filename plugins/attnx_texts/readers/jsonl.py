"""JSON lines: one object a line."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from attnx.plugin import DataError, did_you_mean, read_json_lines

from ..rows import Row, RowStream, check_label


def read_jsonl(
    path: Path, text: str = "text", label: str = "label", rationale: str = "", query: str = ""
) -> RowStream:
    """Rows of a file of objects."""
    with closing(read_json_lines(path)) as lines:
        for index, (number, found) in enumerate(lines):
            where = f"'{path}', line {number}"
            yield Row(
                index,
                number,
                _text(_value(found, text, where), text, where),
                _label(_value(found, label, where), label, where),
                found.get(rationale) if rationale else None,
                _text(_value(found, query, where), query, where) if query else None,
                _id(found.get("id"), where),
            )


def _value(found: dict[str, Any], key: str, where: str) -> Any:
    if key not in found:
        keys = ", ".join(f"'{other}'" for other in found) or "none"
        raise DataError(f"{where}: there is no key '{key}'.{did_you_mean(key, found)} Keys: {keys}.")
    return found[key]


def _text(value: Any, key: str, where: str) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(word, str) and word.strip() for word in value):
        return tuple(value)
    raise DataError(f"{where}: '{key}' must be a string, or a list of words that are not empty.")


def _id(value: Any, where: str) -> str:
    """The file's own id of a text; nothing where it has none."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise DataError(f"{where}: 'id' must be a string or a whole number, and not empty.")
    return str(value).strip()


def _label(value: Any, key: str, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    given = str(value).strip() if isinstance(value, int | str) else ""
    if not given:
        raise DataError(f"{where}: '{key}' must be a string or a whole number, and not empty.")
    return check_label(given, where)
