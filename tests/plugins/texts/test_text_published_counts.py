"""The counts of the original papers, from real files with the original preparation."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from text_loading import counts, everything, load, shared, write


def test_sst_has_the_published_number_of_examples() -> None:
    data = load("sst", shared("sst/jw.train.jsonl.gz"))
    assert counts(data, "train") == {"negative": 3034, "positive": 3321}
    assert counts(data, "test") == {"negative": 863, "positive": 862}
    assert data.provenance["files"] == "jw.train.jsonl.gz, jw.dev.jsonl.gz, jw.test.jsonl.gz"
    assert "train 565 of 6920 (564 shorter than 6 words, 1 the longest)" in data.provenance["dropped"]
    assert data.train[0].units[:9] == tuple("the rock is destined to be the qqq century".split())


def test_imdb_has_the_published_number_of_test_examples() -> None:
    data = load("imdb", shared("imdb/jw.test.jsonl.gz"), files="jw")
    assert counts(data, "test") == {"negative": 2184, "positive": 2172}
    assert max(len(example.units) for example in everything(data)) < 399


def test_another_preparation_is_chosen_by_its_prefix() -> None:
    data = load("sst", shared("sst/binary.train.jsonl.gz"), files="binary", min_length=1, drop_longest=False)
    assert [len(split) for split in (data.train, data.dev, data.test)] == [6920, 872, 1821]
    assert data.dev[0].units == tuple(
        "it 's a lovely film with lovely performances by buy and accorsi .".split()
    )


def test_official_trees_give_the_same_examples_as_the_prepared_sentences(tmp_path: Path) -> None:
    folder = shared("sst/trees.train.jsonl.gz")
    for split in ("train", "dev", "test"):
        with gzip.open(folder / f"sst/trees.{split}.jsonl.gz", "rt", encoding="utf-8") as file:
            write(tmp_path / f"sst/{split}.txt", "\n".join(json.loads(line)["tree"] for line in file))
    whole = {"min_length": 1, "drop_longest": False}
    trees, prepared = load("sst", tmp_path, **whole), load("sst", folder, files="binary", **whole)
    for split in ("train", "dev", "test"):
        assert counts(trees, split) == counts(prepared, split)
    plain = [
        e.units for e in prepared.test if not {"-lrb-", "-rrb-"} & {*e.units} and "\\" not in str(e.units)
    ]
    assert {*plain} <= {example.units for example in trees.test}
