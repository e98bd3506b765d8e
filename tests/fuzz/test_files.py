"""Data files, word vectors, scores and pictures of anybody's are read, or refused in one line as data."""

from __future__ import annotations

import gzip
import io
import json
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fuzzing import damaged, fuzzed
from hypothesis import strategies as st
from PIL import Image

from attnx.data.access import Source
from attnx.data.loading import load_data
from attnx.errors import DataError, UsageError
from attnx.host.catalog import Catalog
from attnx.request.resolve import find_part
from attnx.request.spec import Choice, Limit
from attnx_baselines.options import PrecomputedOptions
from attnx_baselines.precomputed import Precomputed
from attnx_encoders.word_vectors import read_vectors
from attnx_pictures.image_folder import ImageFolder
from attnx_pictures.options import ImageFolderOptions

seeds = st.integers(0, 2**32)
cells = st.text(max_size=8) | st.sampled_from(
    ["", "a b", "0", "1", "yes", "no", '"', "=1+1", "é", "\ud800", "a\nb"]
)
values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | cells,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(cells, inner, max_size=2),
    max_leaves=4,
)
FOLDER = tempfile.TemporaryDirectory()


def refused(read: Callable[[], Any]) -> Any:
    """What reading gives, or None where it says in one readable line what is wrong with the data."""
    try:
        return read()
    except (DataError, UsageError) as error:
        said = str(error)
    assert said.strip()
    assert "Traceback" not in said
    return None


@cache
def catalog() -> Catalog:
    return Catalog.installed()


def load(task: str, content: bytes, name: str) -> Any:
    path = Path(FOLDER.name) / name
    path.write_bytes(content)
    part = find_part(catalog(), "task", Choice.parse(f"{task}:file={path}"))
    data = refused(lambda: load_data(part.make(), Source(), Limit()))
    if data is not None:
        assert all(example.units for example in data.train)
        assert {example.label for example in data.train} <= set(range(len(data.label_names)))
    return data


def rows(count: int = 40) -> list[dict[str, Any]]:
    return [
        {"text": f"word {'odd' if i % 2 else 'even'} {i}", "label": ["no", "yes"][i % 2]}
        for i in range(count)
    ]


def csv_of(table: list[dict[str, Any]], mark: str = ",") -> bytes:
    lines = [mark.join(("text", "label")), *(mark.join(map(str, row.values())) for row in table)]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def jsonl_of(table: list[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in table).encode("utf-8", "surrogatepass")


@fuzzed(40, st.sampled_from(["mine.csv", "mine.tsv", "mine.csv.gz"]), seeds)
def test_damaged_tables(name: str, seed: int) -> None:
    content = damaged(csv_of(rows(), "\t" if "tsv" in name else ","), seed)
    content = damaged(gzip.compress(content), seed + 1) if name.endswith("gz") and seed % 2 else content
    load("csv", content, name)


@fuzzed(20, st.lists(st.lists(cells, max_size=4), max_size=12), st.sampled_from([",", "\t", ";"]))
def test_tables_of_anything(table: list[list[str]], mark: str) -> None:
    text = "\n".join([mark.join(("text", "label")), *(mark.join(row) for row in table)])
    load("csv", text.encode("utf-8", "surrogatepass"), "mine.csv")


@fuzzed(40, st.sampled_from(["jsonl", "jsonl-rationales"]), seeds)
def test_damaged_lines(task: str, seed: int) -> None:
    table = [row | {"rationale": [1, 0, 0]} for row in rows()]
    load(task, damaged(jsonl_of(table), seed), "mine.jsonl")


@fuzzed(40, st.lists(st.fixed_dictionaries({"text": values, "label": values}) | values, max_size=12))
def test_lines_of_anything(table: list[Any]) -> None:
    load("jsonl", jsonl_of(table), "mine.jsonl")


@fuzzed(40, st.lists(values | st.lists(st.integers(-1, 4) | st.floats(-1, 2), max_size=4), max_size=12))
def test_rationales_of_anything(given: list[Any]) -> None:
    table = [
        row | {"rationale": mark} for row, mark in zip(rows(40), [*given, *[[1, 0, 0]] * 40], strict=False)
    ]
    data = load("jsonl-rationales", jsonl_of(table), "mine.jsonl")
    if data is None:
        return
    for example in data.train:
        assert example.rationale is None or len(example.rationale) == len(example.units)


@fuzzed(40, seeds, st.booleans())
def test_damaged_word_vectors(seed: int, header: bool) -> None:
    words = [f"word{i} " + " ".join(f"{i * j / 7:.4f}" for j in range(5)) for i in range(12)]
    content = "\n".join([*(["12 5"] if header else []), *words]).encode()
    path = Path(FOLDER.name) / "vectors.txt"
    path.write_bytes(damaged(content, seed))
    found = refused(lambda: read_vectors(path, {f"word{i}": i for i in range(12)}))
    if found is not None:
        assert all(len(vector) == found[1] and np.isfinite(vector).all() for vector in found[0].values())


def read_scores_of(content: bytes, name: str) -> None:
    path = Path(FOLDER.name) / name
    path.write_bytes(content)
    found = refused(lambda: Precomputed(PrecomputedOptions(file=path)))
    if found is not None:
        assert found._flat.dtype.kind == "f"


@fuzzed(
    40,
    seeds,
    st.sampled_from(["scores.jsonl", "scores.jsonl.gz", "scores.npz"]),
    examples=((6681, "scores.npz"),),  # its compression is one that nobody knows
)
def test_damaged_scores(seed: int, name: str) -> None:
    scores = {f"row-{i}": [i / 3, -1.0, 2.5] for i in range(6)}
    content = jsonl_of([{"id": id_, "scores": found} for id_, found in scores.items()])
    if name.endswith("npz"):
        written = io.BytesIO()
        np.savez(written, **{id_: np.array(found) for id_, found in scores.items()})
        content = written.getvalue()
    read_scores_of(damaged(gzip.compress(content) if name.endswith("gz") else content, seed), name)


@fuzzed(40, st.lists(st.fixed_dictionaries({"id": values, "scores": values}) | values, max_size=8))
def test_scores_of_anything(lines: list[Any]) -> None:
    read_scores_of(jsonl_of(lines), "scores.jsonl")


@fuzzed(15, st.sampled_from(["int", "object", "complex", "text", "2d", "0d", "nan", "bool"]))
def test_arrays_of_anything(kind: str) -> None:
    arrays: dict[str, Any] = {
        "int": np.arange(3),
        "object": np.array([1, "a", None], dtype=object),
        "complex": np.ones(3, dtype=complex),
        "text": np.array(["a", "b"]),
        "2d": np.ones((2, 2)),
        "0d": np.array(1.0),
        "nan": np.full(3, np.nan),
        "bool": np.ones(3, dtype=bool),
    }
    written = io.BytesIO()
    np.savez(written, **{"row-0": arrays[kind]})
    read_scores_of(written.getvalue(), "scores.npz")


@cache
def png() -> bytes:
    written = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (9, 9, 3), dtype=np.uint8)).save(written, "PNG")
    return written.getvalue()


@fuzzed(25, seeds, st.booleans(), examples=((7882315, False),))  # an integer of many digits in a box
def test_damaged_pictures(seed: int, picture: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        chosen = random.Random(seed).randrange(24) if picture else -1
        lines = []
        for number in range(24):
            lines.append({"image": f"{number}.png", "label": f"kind {number % 2}", "boxes": [[0, 0, 4, 4]]})
            content = damaged(png(), seed) if number == chosen else png()
            (Path(folder) / f"{number}.png").write_bytes(content)
        file = Path(folder) / "pictures.jsonl"
        file.write_bytes(jsonl_of(lines) if picture else damaged(jsonl_of(lines), seed))
        task = ImageFolder(ImageFolderOptions(file=file, grid=2, patch=2))
        refused(lambda: load_data(task, Source(), Limit()))
