"""The task `minimal-pairs`: what differs is marked, pairs stay together, and bad lines are refused."""

from __future__ import annotations

import json
from difflib import ndiff
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnx
from attnx.data.loading import Source, fingerprints, load_data
from attnx.plugin import DataError, TaskData, UsageError
from attnx.request.spec import Limit
from attnx_texts.minimal_pairs import MinimalPairs, differing_words
from attnx_texts.minimal_pairs_options import MinimalPairsOptions

WORDS = "one two three four five six seven".split()


def line(first: str, second: str, labels: Any = ("positive", "negative")) -> str:
    return json.dumps({"texts": [first, second], "labels": list(labels)})


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def load(path: Path, raw_text: bool = False, **options: Any) -> TaskData:
    task = MinimalPairs(MinimalPairsOptions(**({"test": path} | options)))
    return load_data(task, Source(), Limit(), raw_text=raw_text, trains=False)


@pytest.mark.parametrize(
    ("first", "second", "marks"),
    [
        ("a fine film", "a dull film", ((0, 1, 0), (0, 1, 0))),
        ("i like it", "i do not like it", ((0, 0, 0), (0, 1, 1, 0, 0))),
        ("nice and good food", "nasty and bad food", ((1, 0, 1, 0), (1, 0, 1, 0))),
        ("the best of all", "by far the worst of all", ((0, 1, 0, 0), (1, 1, 0, 1, 0, 0))),
    ],
)
def test_the_words_that_differ_are_marked_in_both_texts(first: str, second: str, marks: Any) -> None:
    found = differing_words(first.split(), second.split())
    assert tuple(tuple(map(int, one)) for one in found) == marks


def test_marks_agree_with_another_comparison_of_lines() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        first = rng.permutation(WORDS).tolist()  # no word twice: the longest common part is what is left
        second = list(first)
        for at in rng.choice(len(first), size=2, replace=False):
            second[at] = f"other{at}"
        marks = differing_words(first, second)
        kept = [d[2:] for d in ndiff(first, second) if d.startswith("  ")]
        assert [word for word, marked in zip(first, marks[0], strict=True) if not marked] == kept
        assert [word for word, marked in zip(second, marks[1], strict=True) if not marked] == kept


def test_both_texts_are_examples_that_know_each_other(tmp_path: Path) -> None:
    data = load(
        write(tmp_path / "pairs.jsonl", line("A fine film.", "A dull film."), line("I did", "I did not"))
    )
    assert [example.id for example in data.test] == [
        "test-000000-1", "test-000000-2", "test-000001-1", "test-000001-2",
    ]  # fmt: skip
    assert data.label_names == ("negative", "positive")
    for one, other in zip(data.test[::2], data.test[1::2], strict=True):
        assert one.partner is not None
        assert other.partner is not None
        assert one.partner.units == other.units
        assert other.partner.units == one.units
        assert one.label != other.label
        shared = [u for u, m in zip(one.units, one.rationale or (), strict=True) if not m]
        assert shared == [u for u, m in zip(other.units, other.rationale or (), strict=True) if not m]
    assert sum(data.test[2].rationale or ()) == 0  # a word that only the other text has


def test_raw_texts_keep_their_characters(tmp_path: Path) -> None:
    data = load(write(tmp_path / "pairs.jsonl", line("A Fine film.", "A Dull film.")), raw_text=True)
    assert data.test[0].units == ("A", "Fine", "film", ".")
    assert data.test[0].text == "A Fine film."


def test_a_file_is_divided_by_pairs(tmp_path: Path) -> None:
    path = write(
        tmp_path / "pairs.jsonl", *(line(f"a fine film {n}", f"a dull film {n}") for n in range(100))
    )
    data = load_data(MinimalPairs(MinimalPairsOptions(file=path)), Source(), Limit())
    assert [len(split) for split in (data.train, data.dev, data.test)] == [160, 20, 20]
    numbers = [{example.units[-1] for example in split} for split in (data.train, data.dev, data.test)]
    assert [len(one) for one in numbers] == [80, 10, 10]
    assert not numbers[0] & numbers[1] | numbers[0] & numbers[2] | numbers[1] & numbers[2]


def test_another_partner_is_another_dataset(tmp_path: Path) -> None:
    seen = [
        fingerprints(load(write(tmp_path / f"{n}.jsonl", line("a fine film", other))))
        for n, other in enumerate(("a dull film", "a stale film"))
    ]
    assert seen[0] != seen[1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{"text": ["a", "b"], "labels": [0, 1]}',
            "there is no key 'texts'. Did you mean 'text'? Keys: 'text'",
        ),
        ('{"texts": ["a b", "a c"]}', "there is no key 'labels'"),
        ('{"texts": "a b", "labels": [0, 1]}', "'texts' must be a list of two"),
        ('{"texts": ["a b"], "labels": [0, 1]}', "'texts' must be a list of two"),
        ('{"texts": ["a b", ""], "labels": [0, 1]}', "'texts' must hold two strings that are not empty"),
        ('{"texts": ["a b", "a c"], "labels": [1, 1]}', "both texts have the label '1'"),
        ('{"texts": ["a b", "a c"], "labels": [1, null]}', "'labels' must hold two strings"),
        ('{"texts": ["A b", "a b"], "labels": [0, 1]}', "the two texts have the same words"),
        ('{"texts": ["a b", "c d"], "labels": [0, 1]}', "not a minimal pair"),
        ("not json", "line 1"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DataError) as error:
        load(write(tmp_path / "pairs.jsonl", text))
    assert says in str(error.value)
    assert "line 1" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_label_that_train_does_not_have_is_refused(tmp_path: Path) -> None:
    train = write(
        tmp_path / "train.jsonl", *(line(f"a fine film {n}", f"a dull film {n}") for n in range(10))
    )
    test = write(tmp_path / "test.jsonl", line("a fine film", "an odd film", ("positive", "odd")))
    with pytest.raises(DataError, match="label 'odd' does not occur in train"):
        load(test, train=train)


def test_files_must_be_named() -> None:
    with pytest.raises(UsageError, match="needs minimal-pairs:file=PATH, which it divides"):
        load(Path("x"), test=None)


def test_an_evaluation_says_whether_scores_point_at_the_difference(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(120):
        words = rng.permutation(WORDS).tolist()
        place = int(rng.integers(len(words)))
        first, second = ([*words[:place], word, *words[place:]] for word in ("good", "bad"))
        lines.append(line(" ".join(first), " ".join(second)))
    path = write(tmp_path / "pairs.jsonl", *lines)
    report = attnx.evaluate(
        f"minimal-pairs:file={path}", "average-add:embedding=8",
        metrics=["plausibility", "focus", "pair-movement"],
        explanations=["input-x-gradient", "random", "uniform"],
        training={"epochs": 8, "learning_rate": 0.05}, progress=False,
    )  # fmt: skip
    assert report.quality[0].accuracy == 1
    assert report.select("ft", metric="focus").mean == 1
    assert report.select("token-f1", metric="plausibility").mean == 1
    gain = {
        name: report.select("gain", explanation=name) for name in ("input-x-gradient", "random", "uniform")
    }
    assert gain["input-x-gradient"].mean > 0.8  # for the class in one text, against it in the other
    assert gain["random"].low < 0.1
    assert gain["uniform"].mean == 0
