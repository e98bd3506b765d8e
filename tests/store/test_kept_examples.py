"""Examples on disk: small, exact where that matters, told when they are damaged."""

import gzip
import json
import zlib

import numpy as np
import pytest

from attnx.plugin import DataError
from attnx.results.examples import ExampleColumn, Examples, Scores
from attnx.store.examples import TEXTS, read_examples, write_examples

MEGABYTE = 1_000_000


def generated(count: int, length: int, methods: int, columns: int, seeds: int = 1) -> Examples:
    random = np.random.default_rng(0)
    words = [f"w{number}" for number in range(20_000)]
    lengths = random.integers(length // 2, length * 3 // 2, count)
    units = int(lengths.sum())
    return Examples(
        label_names=("negative", "positive"),
        seeds=tuple(range(seeds)),
        columns=tuple(
            ExampleColumn("metric", f"measure {k}", "attention", None, "up") for k in range(columns)
        ),
        ids=tuple(f"test-{row}" for row in range(count)),
        labels=random.integers(0, 2, count),
        units=tuple(tuple(random.choice(words, n)) for n in lengths),
        queries=(None,) * count,
        rationales=tuple(tuple(bool(u % 7 == 0) for u in range(n)) for n in lengths),
        predicted=random.integers(0, 2, (seeds, count)),
        probabilities=random.random((seeds, count, 2)),
        measures=np.where(
            random.random((seeds, count, columns)) < 0.1, np.nan, random.random((seeds, count, columns))
        ),
        lengths=lengths,
        scores={
            f"method {m}": Scores(
                random.random((seeds, units)).astype(np.float16), random.random((seeds, count))
            )
            for m in range(methods)
        },
        without_top={f"method {m}": random.random((seeds, count)) for m in range(methods)},
        drawn={"map": {"cells": random.random((3, 4)), "names": ("left", "right")}},
    )


def test_two_thousand_reviews_with_five_importances_would_take_less_than_fifty_megabytes(tmp_path):
    write_examples(generated(count=200, length=200, methods=5, columns=100, seeds=3), tmp_path)
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert 1 * MEGABYTE < size < 5 * MEGABYTE


def test_what_is_read_is_what_was_written(tmp_path):
    written = generated(count=7, length=10, methods=2, columns=3, seeds=2)
    write_examples(written, tmp_path)
    read = read_examples(tmp_path)
    assert read.to_records() == written.to_records()
    assert (read.columns, read.methods) == (written.columns, written.methods)
    assert np.array_equal(read.measures, written.measures, equal_nan=True)
    assert np.array_equal(read.drawn["map"]["cells"], written.drawn["map"]["cells"])
    assert read.drawn["map"]["names"] == ("left", "right")


def test_the_same_examples_are_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_examples(generated(count=3, length=5, methods=1, columns=1), tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


@pytest.mark.parametrize("file", ["examples.safetensors", "examples.jsonl.gz"])
def test_damage_is_told(file, tmp_path):
    write_examples(generated(count=3, length=5, methods=1, columns=1), tmp_path)
    (tmp_path / file).write_bytes((tmp_path / file).read_bytes()[:-9])
    with pytest.raises(DataError, match="are damaged"):
        read_examples(tmp_path)


def test_an_example_that_was_not_explained_has_no_scores():
    examples = generated(count=3, length=5, methods=1, columns=1)
    examples.scores["method 0"].largest[0, 1] = np.nan
    assert [bool(example.seen[0].scores) for example in examples] == [True, False, True]


def test_texts_are_compressed_line_by_line(tmp_path, monkeypatch):
    """The lines of all texts together would be in memory three times."""
    given, compressobj = [], zlib.compressobj

    class Packing:
        def __init__(self, *args, **kwargs):
            self.whole = compressobj(*args, **kwargs)
            self.flush = self.whole.flush

        def compress(self, part):
            given.append(part)
            return self.whole.compress(part)

    monkeypatch.setattr(zlib, "compressobj", Packing)
    written = generated(count=7, length=10, methods=1, columns=1)
    write_examples(written, tmp_path)
    assert [json.loads(line)["id"] for line in given] == list(written.ids)
    assert gzip.decompress((tmp_path / TEXTS).read_bytes()) == b"".join(given)
