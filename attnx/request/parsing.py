"""Reads a spec from command line options and from a YAML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import UsageError, did_you_mean, did_you_mean_path
from ..registry.plain_yaml import load_yaml
from .spec import Choice, Limit, Options, RunSpec

MOST_SEEDS = 10_000
_KEYS = {"extra_forbidden": "Unknown key", "missing": "No value is given for"}


def read_request(given: dict[str, Any], file: Path | None) -> RunSpec:
    """The spec of a file; options of the command line replace its fields."""
    fields = {**read_fields(file, RunSpec), **given} if file else dict(given)
    if isinstance(fields.get("seeds"), str):
        fields["seeds"] = parse_seeds(fields["seeds"])
    if isinstance(fields.get("limit"), str | int):
        fields["limit"] = Limit.parse(str(fields["limit"]))
    if isinstance(fields.get("training"), str):
        fields["training"] = Choice.parse(f"training:{fields['training']}").options
    return validated(f"{file}: " if file else "", **fields)


def validated(origin: str = "", **fields: Any) -> RunSpec:
    """The spec of these fields; an error names the field and where it was written."""
    try:
        return RunSpec.model_validate(fields)
    except ValidationError as error:
        raise UsageError(field_error(error, origin)) from error


def field_error(error: ValidationError, origin: str = "") -> str:
    """The first wrong field of a validation error: its value, its name and all that it may be."""
    first, *others = error.errors()
    if first["type"] in _KEYS:
        return f"{_KEYS[first['type']]} {origin}{'.'.join(map(str, first['loc']))}."
    depth = len(first["loc"])
    same = [other for other in others if other["loc"][: depth - 1] == first["loc"][: depth - 1] and depth > 1]
    reasons = dict.fromkeys(one["msg"] for one in (first, *same) if one["input"] == first["input"])
    union = len(reasons) > 1
    key = ".".join(str(part) for part in first["loc"][: depth - 1 if union else depth])
    return f"Bad value {first['input']!r} for {origin}{key}: {', or '.join(reasons)}."


def parse_seeds(text: str) -> tuple[int, ...]:
    """Read seeds, e.g. 0,1,2 or 0-9 or 0-2,7."""
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            last = last if dash else first
            if int(last) - int(first) >= MOST_SEEDS:
                raise UsageError(f"Seeds '{text}' are too many: the maximum is {MOST_SEEDS}.")
            seeds += range(int(first), int(last) + 1)
    except ValueError as error:
        raise UsageError(f"Cannot read seeds '{text}'. Write e.g. 0,1,2 or 0-9.") from error
    if not seeds:
        raise UsageError(f"Seeds '{text}' are empty: the first number must not be above the last.")
    if len(set(seeds)) < len(seeds):
        raise UsageError(f"Seeds '{text}' name a seed twice.")
    return tuple(seeds)


def read_fields(path: Path, of: type[Options]) -> dict[str, Any]:
    """The fields of a YAML file; a key that the class does not have is refused."""
    try:
        fields = load_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        nearest = did_you_mean_path(path)
        raise UsageError(f"Cannot read spec '{path}': {error.strerror}.{nearest}") from error
    except ValueError as error:
        raise UsageError(f"Spec '{path}' is not valid YAML: {error}.") from error
    if not isinstance(fields, dict):
        raise UsageError(f"Spec '{path}' must be a mapping of keys to values, e.g. 'seeds: [0, 1]'.")
    known = list(of.model_fields)
    for key in fields:
        if key not in known:
            raise UsageError(
                f"{path}: unknown key '{key}'.{did_you_mean(str(key), known)} Keys: {', '.join(known)}."
            )
    return fields


def read_seeds(seeds: Any) -> tuple[int, ...]:
    """Seeds given in Python: a string or several numbers; a single number is refused as ambiguous."""
    if isinstance(seeds, str):
        return parse_seeds(seeds)
    if isinstance(seeds, int):
        raise UsageError(
            f"seeds={seeds} is ambiguous: write range({seeds}) for {seeds} seeds, "
            f"or [{seeds}] for the one seed {seeds}."
        )
    return tuple(seeds)
