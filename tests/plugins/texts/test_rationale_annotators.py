"""Posts and pairs of sentences that several people marked: official layouts, agreement, mistakes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from rationale_loading import error, everything, load, marked

from attnx_texts.marked import cut_punctuation, read_stars
from attnx_texts.passages import agreed

# Posts.


def post(labels: str, rationales: list[list[int]], text: str = "you are a fool") -> dict[str, Any]:
    names = {"h": "hatespeech", "n": "normal", "o": "offensive"}
    return {
        "post_id": "p",
        "annotators": [
            {"label": names[y], "annotator_id": i, "target": ["None"]} for i, y in enumerate(labels)
        ],
        "rationales": rationales,
        "post_tokens": text.split(),
    }


POSTS = {
    "majority": post("hho", [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]]),
    "normal": post("nno", [[0, 0, 0, 1]]),
    "offensive": post("oon", [[0, 0, 1, 1], [1, 0, 0, 1]]),
    "undecided": post("hno", [[0, 0, 0, 1], [0, 0, 0, 1]]),
    "unmarked": post("hhh", []),
    "misfit": post("ooo", [[0, 1], [0, 1, 0, 0]]),
}


def hatexplain(folder: Path, posts: dict[str, Any] | None = None, divisions: Any = None) -> Path:
    root = folder / "hatexplain"
    root.mkdir(parents=True, exist_ok=True)
    posts = POSTS if posts is None else posts
    if divisions is None:
        divisions = {"train": list(posts), "val": ["v"], "test": ["t"]}
        posts = {**posts, "v": post("hhh", [[1, 0, 0, 0]]), "t": post("nnn", [])}
    (root / "dataset.json").write_text(json.dumps(posts), encoding="utf-8")
    (root / "post_id_divisions.json").write_text(json.dumps(divisions), encoding="utf-8")
    return root


class TestHateXplain:
    def test_label_and_rationale_are_those_of_the_majority(self, tmp_path: Path) -> None:
        hatexplain(tmp_path)
        data = load("hatexplain", tmp_path)
        found = {example.id: example for example in data.train}
        assert data.label_names == ("hatespeech", "normal", "offensive")
        assert {name: data.label_names[e.label] for name, e in found.items()} == {
            "majority": "hatespeech",
            "normal": "normal",
            "offensive": "offensive",
            "unmarked": "hatespeech",
            "misfit": "offensive",
        }
        assert marked(found["majority"]) == ["fool"]
        assert marked(found["offensive"]) == ["fool"]
        assert marked(found["misfit"]) == ["are"]
        assert found["normal"].rationale is None
        assert found["unmarked"].rationale is None
        assert data.provenance["dropped"] == "train 1 of 6 (no label in the majority)"
        assert data.provenance["marks left out"] == "train 1 of 6 (not one value per word)"
        assert data.provenance["agreement"] == "majority"

    def test_the_authors_take_what_any_annotator_marked(self, tmp_path: Path) -> None:
        hatexplain(tmp_path)
        first = load("hatexplain", tmp_path, agreement="any").train[0]
        assert marked(first) == ["are", "a", "fool"]

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            (
                {"annotators": [{"label": "hatespech"}]},
                "unknown label 'hatespech'. Did you mean 'hatespeech'?",
            ),
            ({"annotators": []}, "there is no annotator"),
            ({"annotators": ["hatespeech"]}, "an annotator must be an object"),
            ({"annotators": "h"}, "'annotators' must be a list"),
            ({"post_tokens": ["fine", ""]}, "'post_tokens' must be words that are not empty"),
            ({"rationales": [[0, 2, 0, 0]]}, "a rationale must be a list of 0 and 1"),
            ({"rationales": 1}, "'rationales' must be a list"),
        ],
    )
    def test_a_bad_post_is_named(self, tmp_path: Path, changes: dict[str, Any], said: str) -> None:
        hatexplain(tmp_path, {**POSTS, "broken": {**post("hhh", []), **changes}})
        message = error("hatexplain", tmp_path)
        assert "dataset.json', post 'broken': " in message
        assert said in message

    def test_divisions_must_name_posts_of_three_splits(self, tmp_path: Path) -> None:
        hatexplain(tmp_path, POSTS, {"train": ["nobody"], "val": [], "test": []})
        assert "post 'nobody': post_id_divisions.json names it" in error("hatexplain", tmp_path)
        hatexplain(tmp_path, POSTS, {"train": [], "dev": [], "test": []})
        assert "post_id_divisions.json': there is no key 'val'" in error("hatexplain", tmp_path)

    def test_a_file_that_is_missing_is_named(self, tmp_path: Path) -> None:
        (hatexplain(tmp_path) / "dataset.json").unlink()
        assert "dataset.json" in error("hatexplain", tmp_path)


# Pairs of sentences.

COLUMNS = ("pairID", "gold_label", "Sentence1", "Sentence2", "Explanation_1")


def esnli(folder: Path, rows: list[dict[str, str]] | None = None, people: int = 3) -> Path:
    """The official files: train in two parts with one annotator, dev and test with three."""
    root = folder / "esnli"
    root.mkdir(parents=True, exist_ok=True)
    rows = PAIRS if rows is None else rows
    for name, count in (("train_1", 1), ("train_2", 1), ("dev", people), ("test", people)):
        marks = [f"Sentence{s}_marked_{i}" for i in range(1, count + 1) for s in (1, 2)]
        with (root / f"esnli_{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, (*COLUMNS, *marks), restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
    return root


PAIRS = [
    {
        "pairID": "1.jpg#0", "gold_label": "contradiction",
        "Sentence1": "A man, in red, sleeps.", "Sentence2": "A man doesn't sleep.",
        "Sentence1_marked_1": "A man, in *red,* *sleeps.*", "Sentence2_marked_1": "A man *doesn't* *sleep.*",
        "Sentence1_marked_2": "A man, in red, *sleeps.*", "Sentence2_marked_2": "A man *doesn't* sleep.",
        "Sentence1_marked_3": "A man, in red, sleeps.", "Sentence2_marked_3": "A *man* *doesn't* sleep.",
    },
    {
        "pairID": "2.jpg#0", "gold_label": "neutral",
        "Sentence1": "Two dogs run.", "Sentence2": "Two \"big\" dogs run.",
        "Sentence1_marked_1": "Two dogs run.", "Sentence2_marked_1": "Two *\"big\"* dogs run.",
        "Sentence1_marked_2": "Two dogs run.", "Sentence2_marked_2": "other words",
        "Sentence1_marked_3": "Two dogs run.", "Sentence2_marked_3": "Two *\"big\"* dogs *run.*",
    },
    {
        "pairID": "3.jpg#0", "gold_label": "entailment",
        "Sentence1": "A girl sings", "Sentence2": "A girl sings",
        "Sentence1_marked_1": "A girl sings", "Sentence2_marked_1": "A girl sings",
    },
]  # fmt: skip


class TestEsnli:
    def test_units_are_premise_separator_hypothesis_and_both_are_marked(self, tmp_path: Path) -> None:
        esnli(tmp_path)
        data = load("esnli", tmp_path)
        first, second, third = data.train[:3]
        assert data.label_names == ("entailment", "neutral", "contradiction")
        assert [example.label for example in data.train] == [2, 1, 0] * 2  # of both parts
        assert len({example.id for example in everything(data)}) == 12
        assert " ".join(first.units) == "a man , in red , sleeps . <sep> a man doesn't sleep ."
        assert marked(first) == ["red", "sleeps", "doesn't", "sleep"]
        assert marked(second) == ["big"]
        assert third.rationale is None
        assert first.query is None

    def test_three_annotators_decide_by_majority(self, tmp_path: Path) -> None:
        esnli(tmp_path)
        assert marked(load("esnli", tmp_path).dev[0]) == ["sleeps", "doesn't"]
        assert marked(load("esnli", tmp_path, agreement="all").dev[0]) == ["doesn't"]
        everyone = marked(load("esnli", tmp_path, agreement="any").dev[0])
        assert everyone == ["red", "sleeps", "man", "doesn't", "sleep"]

    def test_marks_of_other_words_are_left_out_and_counted(self, tmp_path: Path) -> None:
        esnli(tmp_path)
        data = load("esnli", tmp_path)
        assert marked(data.dev[1]) == ["big"]  # two of the two that are left
        assert "dev 2 of 3 (not one piece per word)" in data.provenance["marks left out"]
        assert "train" not in data.provenance["marks left out"]

    def test_one_sentence_may_be_the_query_of_the_other(self, tmp_path: Path) -> None:
        esnli(tmp_path)
        premise, hypothesis = (load("esnli", tmp_path, units=u).train[0] for u in ("premise", "hypothesis"))
        assert premise.units == hypothesis.query == tuple("a man , in red , sleeps .".split())
        assert hypothesis.units == premise.query == tuple("a man doesn't sleep .".split())
        assert marked(premise) == ["red", "sleeps"]
        assert marked(hypothesis) == ["doesn't", "sleep"]

    def test_a_bad_row_is_named_by_its_line(self, tmp_path: Path) -> None:
        esnli(tmp_path, [PAIRS[0], {**PAIRS[1], "gold_label": "neutrl"}])
        message = error("esnli", tmp_path)
        assert "esnli_train_1.csv', line 3: unknown label 'neutrl'. Did you mean 'neutral'?" in message

    def test_a_missing_column_is_named(self, tmp_path: Path) -> None:
        root = esnli(tmp_path)
        path = root / "esnli_dev.csv"
        path.write_text(path.read_text().replace("Sentence2_marked_1", "Sentence2_mark_1"))
        assert "there is no column 'Sentence2_marked_1'. Did you mean 'Sentence2_" in error("esnli", tmp_path)
        path.write_text("")
        assert "there is no column 'gold_label'. Columns: none" in error("esnli", tmp_path)

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        (esnli(tmp_path) / "esnli_test.csv").unlink()
        assert "esnli_test.csv" in error("esnli", tmp_path)

    def test_a_separator_keeps_spans_of_the_two_sentences_apart(self, tmp_path: Path) -> None:
        rows = [{**PAIRS[2], "Sentence1_marked_1": "A girl *sings*", "Sentence2_marked_1": "*A* girl sings"}]
        esnli(tmp_path, rows)
        first, _ = load("esnli", tmp_path).train
        assert first.rationale == (False, False, True, False, True, False, False)


def test_stars_mark_whole_words() -> None:
    assert read_stars("*w1* w2 *w3.* a*b * ** *") == (
        ("w1", "w2", "w3.", "a*b", "*", "*"),
        (True, False, True, False, False, False),
    )


def test_punctuation_is_cut_from_words_and_not_out_of_them() -> None:
    words, marks = cut_punctuation(["(T-shirt),", "don't", "...", "3,000"], [True, False, True, True])
    assert words == ("(", "T-shirt", ")", ",", "don't", ".", ".", ".", "3,000")
    assert [word for word, mark in zip(words, marks, strict=True) if mark] == ["T-shirt", "3,000"]


@pytest.mark.parametrize(
    ("agreement", "expected"),
    [("any", (True, True, True)), ("majority", (True, True, False)), ("all", (True, False, False))],
)
def test_words_are_agreed_on_by_those_who_marked_any(agreement: Any, expected: tuple[bool, ...]) -> None:
    votes = [(True, True, False), (True, False, True), (True, True, False), (False, False, False)]
    assert agreed(votes, agreement) == expected
    assert agreed(votes[3:], agreement) is None
