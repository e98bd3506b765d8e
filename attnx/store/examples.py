"""Stores the examples of a run: numbers as safetensors, texts as compressed JSON lines; no pickle."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.text_files import read_json_lines
from ..errors import DataError, in_one_line
from ..request.keep_levels import LEVELS, Keep
from ..results.examples import Array, ExampleColumn, Examples, Scores
from .seals import SEAL, check_seal

NUMBERS, TEXTS = "examples.safetensors", "examples.jsonl.gz"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class StoredExamples:
    """The examples in the folder of a run, read when they are needed."""

    folder: Path

    def __call__(self) -> Examples:
        return read_examples(self.folder)


def write_examples(examples: Examples, folder: Path) -> None:
    """Write the numbers and the texts of examples into a folder, as two files."""
    from safetensors.numpy import save

    about = {
        "schema": SCHEMA,
        "keep": examples.keep,
        "label_names": examples.label_names,
        "seeds": examples.seeds,
        "columns": [asdict(column) for column in examples.columns],
        "methods": list(examples.scores),
        "without_top": list(examples.without_top),
        "gains": list(examples.gains),
        "drawn": {
            name: {key: None if isinstance(part, np.ndarray) else part for key, part in kept.items()}
            for name, kept in examples.drawn.items()
        },
    }
    numbers: dict[str, Array] = {
        "labels": examples.labels.astype(np.int32),
        "lengths": examples.lengths.astype(np.int32),
        "predicted": examples.predicted.astype(np.int32),
        "probabilities": examples.probabilities.astype(np.float64, copy=False),
        "measures": examples.measures.astype(np.float64, copy=False),
    }
    for number, scores in enumerate(examples.scores.values()):
        numbers[f"shares.{number}"] = scores.shares.astype(np.float16, copy=False)
        numbers[f"largest.{number}"] = scores.largest.astype(np.float64, copy=False)
    for number, values in enumerate(examples.without_top.values()):
        numbers[f"without_top.{number}"] = values.astype(np.float64, copy=False)
    for number, values in enumerate(examples.gains.values()):
        numbers[f"gains.{number}"] = values.astype(np.float64, copy=False)
    if examples.best_gain is not None:
        numbers["best_gain"] = examples.best_gain.astype(np.float64, copy=False)
    if examples.pictures:
        numbers["pictures.rows"] = np.array(list(examples.pictures), np.int32)
        numbers["pictures.sizes"] = np.array([len(file) for file in examples.pictures.values()], np.int32)
        numbers["pictures.files"] = np.frombuffer(b"".join(examples.pictures.values()), np.uint8)
    for name, kept in examples.drawn.items():
        numbers |= {f"drawn.{name}.{key}": part for key, part in kept.items() if isinstance(part, np.ndarray)}
    arrays = {name: np.ascontiguousarray(array) for name, array in numbers.items()}
    whole = save(arrays, {"about": json.dumps(about, ensure_ascii=False)})
    (folder / NUMBERS).write_bytes(whole)
    packing = zlib.compressobj(9, wbits=31)  # gzip without a time stamp: equal examples give equal bytes
    with (folder / TEXTS).open("wb") as file:
        for line in _lines(examples):
            file.write(packing.compress((json.dumps(line, ensure_ascii=False) + "\n").encode()))
        file.write(packing.flush())


def _lines(examples: Examples) -> Iterable[dict[str, Any]]:
    for row, id_ in enumerate(examples.ids):
        line: dict[str, Any] = {"id": id_}
        if examples.units:
            line["units"] = examples.units[row]
        if examples.queries and examples.queries[row] is not None:
            line["query"] = examples.queries[row]
        rationale = examples.rationales[row] if examples.rationales else None
        if rationale is not None:
            line["rationale"] = [unit for unit, marked in enumerate(rationale) if marked]
        yield line


def read_examples(folder: Path) -> Examples:
    """Read the examples that were written into a folder."""
    from safetensors import SafetensorError, safe_open

    try:
        if os.path.isfile(folder / SEAL) and os.path.isfile(folder / NUMBERS):
            check_seal(folder, (NUMBERS, TEXTS))
        with safe_open(folder / NUMBERS, framework="np") as file:
            about = json.loads((file.metadata() or {})["about"])
            numbers = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        texts = [line for _, line in read_json_lines(folder / TEXTS)]
        return _examples(about, numbers, texts)
    except FileNotFoundError as error:
        raise DataError(
            f"'{folder}' has no stored examples. Evaluate again with --keep values or --keep all."
        ) from error
    except (SafetensorError, DataError, OSError, EOFError, KeyError, TypeError, ValueError) as error:
        reason = in_one_line(error)
        raise DataError(
            f"The examples in '{folder}' are damaged ({reason}). Evaluate again with --fresh."
        ) from error


def _examples(about: dict[str, Any], numbers: dict[str, Array], texts: list[dict[str, Any]]) -> Examples:
    if about["schema"] != SCHEMA:
        raise ValueError(f"schema {about['schema']} is not {SCHEMA}, which this version reads")
    whole = about["keep"] == "all"
    return Examples(
        label_names=tuple(about["label_names"]),
        seeds=tuple(about["seeds"]),
        columns=tuple(ExampleColumn(**column) for column in about["columns"]),
        ids=tuple(text["id"] for text in texts),
        labels=numbers["labels"],
        units=tuple(tuple(text["units"]) for text in texts) if whole else (),
        queries=tuple(tuple(text["query"]) if "query" in text else None for text in texts) if whole else (),
        rationales=tuple(_rationale(text) for text in texts) if whole else (),
        predicted=numbers["predicted"],
        probabilities=numbers["probabilities"],
        measures=numbers["measures"],
        lengths=numbers["lengths"],
        scores={
            name: Scores(numbers[f"shares.{number}"], numbers[f"largest.{number}"])
            for number, name in enumerate(about["methods"])
        },
        without_top={
            name: numbers[f"without_top.{number}"] for number, name in enumerate(about["without_top"])
        },
        gains={name: numbers[f"gains.{number}"] for number, name in enumerate(about.get("gains", []))},
        best_gain=numbers.get("best_gain"),
        pictures=_pictures(numbers),
        drawn={
            name: {
                key: numbers[f"drawn.{name}.{key}"] if texts is None else tuple(texts)
                for key, texts in kept.items()
            }
            for name, kept in about.get("drawn", {}).items()  # older runs have none
        },
    )


def _pictures(numbers: dict[str, Array]) -> dict[int, bytes]:
    """PNG files by row, cut from one array of bytes."""
    if "pictures.rows" not in numbers:
        return {}
    files = np.split(numbers["pictures.files"], numbers["pictures.sizes"].cumsum()[:-1])
    rows = numbers["pictures.rows"].tolist()
    return {row: file.tobytes() for row, file in zip(rows, files, strict=True)}


def _rationale(text: dict[str, Any]) -> tuple[bool, ...] | None:
    if "rationale" not in text:
        return None
    marked = set(text["rationale"])
    return tuple(unit in marked for unit in range(len(text["units"])))


def stored_level(folder: Path) -> Keep:
    """How much of its examples a run has stored."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / NUMBERS, framework="np") as file:
            level = json.loads((file.metadata() or {})["about"])["keep"]
    except (SafetensorError, OSError, KeyError, TypeError, ValueError):
        return "none"
    return level if level in LEVELS else "none"
