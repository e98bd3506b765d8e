"""Tasks keep their texts as the files have them, for models that read them, and for no others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from text_loading import make

from attnx.data.loading import fingerprints, load_data
from attnx.plugin import Example, PluginError, Source, TaskData, find_in_order, join_words
from attnx.request.spec import Limit

ROWS = (
    ("It's  GOOD,<br />isn't it? 10 of 10", "yes"),
    ("  Bad – “worst” of 1999", "no"),
    ("Good", "yes"),
    ("BAD film", "no"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    lines = (json.dumps({"text": text, "label": label, "asked": f"Is it {label}?"}) for text, label in ROWS)
    (tmp_path / "mine.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "mine.jsonl"


def load(path: Path, raw_text: bool, **options: Any) -> TaskData:
    task = make("jsonl", train=path, dev=path, test=path, **options)
    return load_data(task, Source(), Limit(), raw_text=raw_text)


def test_texts_are_kept_only_where_they_are_read(path: Path) -> None:
    plain, raw = load(path, raw_text=False), load(path, raw_text=True)
    assert all(example.text is None and example.starts is None for example in plain.test)
    assert plain.notices == ()
    assert "texts" not in plain.provenance
    assert raw.provenance["texts"] == "as written"
    assert [example.text for example in raw.test] == [text for text, _ in ROWS]
    assert raw.test[0].units == ("It", "'s", "GOOD", ",", "is", "n't", "it", "?", "10", "of", "10")
    assert plain.test[0].units == tuple(unit.lower() for unit in raw.test[0].units)


def test_equal_words_of_raw_texts_are_one_object(path: Path) -> None:
    """A word of its own for each place would take more memory than all else that is kept of a text."""
    first, *_ = load(path, raw_text=True).test
    again, *_ = load(path, raw_text=True).test
    assert first.units[0] == "It"
    assert all(one is other for one, other in zip(first.units, again.units, strict=True))


def test_the_name_of_data_without_raw_texts_does_not_depend_on_them(path: Path) -> None:
    plain, raw = load(path, raw_text=False), load(path, raw_text=True)
    assert plain.fingerprint != raw.fingerprint
    without = replace(raw, **{split: _without_texts(raw, plain, split) for split in ("train", "dev", "test")})
    assert fingerprints(without) == fingerprints(plain) == (plain.fingerprint, plain.training_fingerprint)
    moved = replace(raw.test[0], text=f"{raw.test[0].text} ")
    assert fingerprints(replace(raw, test=(moved, *raw.test[1:])))[0] != raw.fingerprint


def _without_texts(raw: TaskData, plain: TaskData, split: str) -> tuple[Example, ...]:
    pairs = zip(getattr(raw, split), getattr(plain, split), strict=True)
    return tuple(replace(one, text=None, starts=None, units=other.units) for one, other in pairs)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, ("the task's lower-casing is not applied",)),
        ({"digits": "qqq"}, ("the task's lower-casing and qqq in place of numbers are not applied",)),
        ({"lowercase": False}, ()),
    ],
)
def test_what_is_not_applied_is_announced(options: dict[str, Any], said: tuple[str, ...], path: Path) -> None:
    found = load(path, raw_text=True, **options)
    assert found.notices == tuple(f"the model reads the texts as they are written: {part}" for part in said)
    assert found.test[1].units[-1] == "1999"


def test_a_truncated_text_ends_with_its_last_word(path: Path) -> None:
    found = load(path, raw_text=True, max_length=3, too_long="truncate")
    assert found.test[0].text == "It's  GOOD"
    assert found.test[0].units == ("It", "'s", "GOOD")
    assert found.test[2].text == "Good"


def test_words_without_a_text_are_joined_and_that_is_announced(tmp_path: Path) -> None:
    lines = ({"text": ["Not", "so", "GOOD", "."], "label": label} for label in ("yes", "no"))
    path = tmp_path / "words.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = load(path, raw_text=True)
    assert found.test[0].text == "Not so GOOD ."
    assert found.test[0].units == ("Not", "so", "GOOD", ".")
    assert "the files give words, not texts: the model reads them joined by spaces" in found.notices


def test_a_query_is_kept_as_it_is_written(path: Path) -> None:
    found = load(path, raw_text=True, query="asked")
    assert found.test[0].query_text == "Is it yes?"
    assert found.test[0].query == ("is", "it", "yes", "?")
    assert load(path, raw_text=False, query="asked").test[0].query_text is None


def test_a_unit_that_is_not_where_the_example_says_is_refused() -> None:
    good = Example("a", ("one", "two"), 0, text="one two", starts=(0, 4))
    for wrong, said in (
        (replace(good, starts=(0, 3)), "the unit 'two', which is not at character 3"),
        (replace(good, starts=(0,)), "1 .*starts"),
        (replace(good, starts=None), "text .*starts"),
    ):

        class Wrong:
            def load(self, source: Source, wrong: Example = wrong) -> TaskData:
                others = (Example("b", ("x",), 0), Example("c", ("y",), 1))
                return TaskData(others, others, (wrong,), ("no", "yes"))

        with pytest.raises(PluginError, match=said):
            load_data(Wrong(), Source(), Limit())  # type: ignore[arg-type]


def test_words_are_found_in_their_order() -> None:
    assert find_in_order(("a", "b", "a"), "A b  a") == ((0, 1), (2, 3), (5, 6))
    assert find_in_order(("it", "is"), "It is it") == ((0, 2), (3, 5))
    assert find_in_order(("a", "c"), "a b") == ()
    assert join_words(("a", "", "bc")) == ("a  bc", (0, 2, 3))


def test_a_text_that_somebody_gives_is_divided_as_those_of_the_task() -> None:
    task = make("csv")
    text = "Don't<br />say “NO” in 1999"
    spans = task.spans_of(text)
    assert len(spans) == len(task.units_of(text))
    assert [text[start:end] for start, end in spans] == ["Do", "n't", "say", "“", "NO", "”", "in", "1999"]
