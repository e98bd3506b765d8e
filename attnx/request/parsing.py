"""From what a person typed, or wrote in a file, to a spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import UsageError, did_you_mean
from ..registry.plain_yaml import load_yaml
from .spec import Choice, Limit, Options, RunSpec

MOST_SEEDS = 10_000


def read_request(asked: dict[str, Any], file: Path | None) -> RunSpec:
    """The spec of a file, with what was asked on the command line in its place."""
    fields = {**read_fields(file, RunSpec), **asked} if file else dict(asked)
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
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"Bad value for {origin}{key}: {first['msg']}.") from error


def parse_seeds(text: str) -> tuple[int, ...]:
    """Read 0,1,2 or 0-9, or a mixture."""
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            last = last if dash else first
            if int(last) - int(first) >= MOST_SEEDS:
                raise UsageError(f"Seeds '{text}' are too many: a run has at most {MOST_SEEDS}.")
            seeds += range(int(first), int(last) + 1)
    except ValueError as error:
        raise UsageError(f"Cannot read seeds '{text}': give 0,1,2 or 0-9.") from error
    if not seeds or len(set(seeds)) < len(seeds):
        raise UsageError(f"Seeds '{text}' must be at least one number, none of them twice.")
    return tuple(seeds)


def read_fields(path: Path, of: type[Options]) -> dict[str, Any]:
    """The fields of a YAML file, all of which that class has."""
    try:
        fields = load_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"Cannot read spec '{path}': {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"Spec '{path}' is not valid YAML: {error}.") from error
    if not isinstance(fields, dict):
        raise UsageError(f"Spec '{path}' must be a mapping, as 'seeds: [0, 1]'.")
    known = list(of.model_fields)
    for key in fields:
        if key not in known:
            raise UsageError(
                f"{path}: unknown key '{key}'.{did_you_mean(str(key), known)} Keys: {', '.join(known)}."
            )
    return fields


def read_seeds(seeds: Any) -> tuple[int, ...]:
    """Seeds as a person gives them in Python: a text or several numbers, and not a single one."""
    if isinstance(seeds, str):
        return parse_seeds(seeds)
    if isinstance(seeds, int):
        raise UsageError(
            f"seeds={seeds} can be read in two ways: give range({seeds}) for {seeds} seeds, "
            f"or [{seeds}] for the seed {seeds}."
        )
    return tuple(seeds)
