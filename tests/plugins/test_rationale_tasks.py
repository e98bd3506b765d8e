"""Tasks with human rationales: official layouts, real reviews, and mistakes said in one line."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from attnx import Card, DataError, Example, Source, Task, TaskData
from attnx.component import Component
from attnx.registry import read_registry
from attnx.resolve import Part
from attnx.spec import Options, validate_options
from attnx.testing import check
from attnx_plausibility import attnx_tasks
from attnx_plausibility.marked import cut_punctuation, read_stars
from attnx_plausibility.passages import agreed

SHARED = Path(os.environ.get("ATTNX_SHARED", Path(__file__).parents[2].parent / "shared"))
CARDS = {card.name: card for card in attnx_tasks()}


def make(name: str, /, **options: Any) -> Task:
    component = Component(CARDS[name], "task", "plausibility", "attnx", "0")
    checked = validate_options(component.load_options(), options, f"task '{name}'")
    return Part("task", name, checked, (), (), component).make()  # type: ignore[no-any-return]


def load(name: str, folder: Path | None, /, **options: Any) -> TaskData:
    return make(name, **options).load(Source(folder, read_registry(()).datasets))


def error(name: str, folder: Path | None, /, **options: Any) -> str:
    """The one line a task fails with."""
    with pytest.raises(DataError) as caught:
        load(name, folder, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def everything(data: TaskData) -> list[Example]:
    return [*data.train, *data.dev, *data.test]


def marked(example: Example) -> list[str]:
    assert example.rationale is not None
    return [unit for unit, mark in zip(example.units, example.rationale, strict=True) if mark]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", CARDS)
def test_every_task_keeps_the_laws(name: str) -> None:
    check("task", make(name))


@pytest.mark.parametrize("card", CARDS.values(), ids=list(CARDS))
def test_a_card_says_what_its_class_says(card: Card) -> None:
    module, _, attribute = card.target.partition(":")
    task = getattr(import_module(module), attribute)
    assert (task.__doc__ or "").strip().partition("\n")[0] == card.summary
    assert tuple(task.provides) == card.provides == ("words", "rationale")
    assert card.recommends == ("bilstm-add",)
    assert card.citation


@pytest.mark.parametrize("card", CARDS.values(), ids=list(CARDS))
def test_every_option_is_described_and_has_a_default(card: Card) -> None:
    module, _, attribute = card.options.partition(":")
    options: type[Options] = getattr(import_module(module), attribute)
    assert all(field.description for field in options.model_fields.values())
    assert options() == options.model_validate(options().model_dump(mode="json"))


@pytest.mark.parametrize("name", CARDS)
def test_data_that_is_nowhere_says_what_a_folder_must_hold(name: str, tmp_path: Path) -> None:
    for folder in (None, tmp_path):
        message = error(name, folder)
        assert "--data-dir" in message
        assert "test" in message or "post_id_divisions.json" in message


@pytest.mark.parametrize("name", CARDS)
def test_a_sample_marks_words_that_tell_its_labels_apart(name: str) -> None:
    data = make(name).sample()
    words = [{word for e in data.train if e.label == y for word in marked(e)} for y in (0, 1)]
    assert all(words)
    assert words[0] != words[1]


# Reviews: a line that holds all of it, or an annotation and a document.

REVIEWS = [
    ("negR_1.txt", "The plot was dull .\nvery dull indeed", "NEG", [[[2, 4]], [[4, 6]]]),
    ("posR_1.txt", "a gripping and tender film", "POS", [[[1, 2], [3, 4]]]),
    ("posR_2.txt", "nothing was marked here", "POS", []),
]


def eraser(folder: Path, reviews: list[tuple[str, str, str, list[Any]]] = REVIEWS) -> Path:
    """The official layout: annotations of train, val and test, and a folder of documents."""
    root = folder / "eraser-movies"
    (root / "docs").mkdir(parents=True)
    for split in ("train", "val", "test"):
        rows = []
        for name, text, label, groups in reviews:
            (root / "docs" / f"{split}_{name}").write_text(text, encoding="utf-8")
            evidences = [
                [
                    {"docid": f"{split}_{name}", "start_token": a, "end_token": b, "start_sentence": -1,
                     "end_sentence": -1, "text": " ".join(text.split()[a:b])}
                    for a, b in group
                ]
                for group in groups
            ]  # fmt: skip
            rows.append(
                {"annotation_id": f"{split}_{name}", "classification": label, "docids": None,
                 "evidences": evidences, "query": "What is the sentiment?", "query_type": None}
            )  # fmt: skip
        write_lines(root / f"{split}.jsonl", rows)
    return root


def single(folder: Path, **changes: Any) -> Path:
    """The layout in which a line holds its text; `changes` are made to the first line of train."""
    root = folder / "eraser-movies"
    for split in ("train", "val", "test"):
        rows: list[dict[str, Any]] = [
            {
                "id": f"{split}_{name}",
                "text": text,
                "label": int(label == "POS"),
                "evidence_token_spans": groups,
            }
            for name, text, label, groups in REVIEWS
        ]
        if split == "train":
            rows[0] = {key: v for key, v in {**rows[0], **changes}.items() if v is not None}
        write_lines(root / f"{split}.jsonl", rows)
    return root


class TestEraserMovies:
    def test_an_annotation_marks_the_words_of_its_document(self, tmp_path: Path) -> None:
        eraser(tmp_path)
        data = load("eraser-movies", tmp_path)
        first, second, third = data.train
        assert data.label_names == ("negative", "positive")
        assert [example.label for example in data.train] == [0, 1, 1]
        assert first.units == ("the", "plot", "was", "dull", ".", "very", "dull", "indeed")
        assert marked(first) == ["was", "dull", ".", "very"]
        assert marked(second) == ["gripping", "tender"]
        assert third.rationale is None
        assert [example.id for example in data.dev] == ["val_negR_1.txt", "val_posR_1.txt", "val_posR_2.txt"]
        assert data.provenance["without rationale"].startswith("train 1 of 3 (nothing marked)")

    def test_both_layouts_give_the_same_examples(self, tmp_path: Path) -> None:
        eraser(tmp_path / "official")
        root = single(tmp_path / "single")
        official, ours = (load("eraser-movies", tmp_path / name) for name in ("official", "single"))
        assert everything(official) == everything(ours)
        for path in list(root.iterdir()):
            path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
        assert everything(load("eraser-movies", tmp_path / "single")) == everything(ours)

    def test_the_unpacked_archive_may_be_the_data_directory_itself(self, tmp_path: Path) -> None:
        root = eraser(tmp_path)
        assert len(everything(load("eraser-movies", root))) == 9

    def test_a_long_text_is_cut_with_its_rationale_and_counted(self, tmp_path: Path) -> None:
        eraser(tmp_path)
        data = load("eraser-movies", tmp_path, max_length=3)
        assert [len(example.units) for example in data.train] == [3, 3, 3]
        assert marked(data.train[0]) == ["was"]
        assert data.provenance["truncated"].startswith("train 3 of 3 (longer than 3 words)")
        assert "without rationale" in data.provenance
        shorter = load("eraser-movies", tmp_path, max_length=1)
        assert all(example.rationale is None for example in everything(shorter))
        assert "train 2 of 3 (cut off)" in shorter.provenance["without rationale"]
        assert "train 1 of 3 (nothing marked)" in shorter.provenance["without rationale"]

    def test_case_is_kept_when_asked(self, tmp_path: Path) -> None:
        eraser(tmp_path)
        assert load("eraser-movies", tmp_path, lowercase=False).train[0].units[0] == "The"

    def test_an_empty_phrase_marks_nothing(self, tmp_path: Path) -> None:
        single(tmp_path, evidence_token_spans=[[[3, 3]], [[3, 4]]])
        assert marked(load("eraser-movies", tmp_path).train[0]) == ["dull"]

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"evidence_token_spans": [[[2, 9]]]}, "the phrase [2, 9) is not within the 8 words of the text"),
            ({"evidence_token_spans": [[[-1, 2]]]}, "the phrase [-1, 2)"),
            ({"evidence_token_spans": [[[4, 2]]]}, "the phrase [4, 2)"),
            ({"evidence_token_spans": [[[1, 2, 3]]]}, "a phrase must be [start, end)"),
            ({"evidence_token_spans": [[[1.0, 2]]]}, "a phrase must be [start, end)"),
            ({"evidence_token_spans": [3]}, "evidence must be a list of groups"),
            ({"evidence_token_spans": None}, "there is no key 'evidence_token_spans'"),
            ({"label": 2}, "unknown label '2'. Labels: NEG, POS, 0, 1"),
            ({"label": "PSO"}, "Did you mean 'POS'?"),
            ({"label": None}, "there is no key 'label'"),
            ({"text": 7}, "'text' must be a string, not 7"),
            ({"id": "train_posR_1.txt"}, "The id 'train_posR_1.txt' occurs twice"),
        ],
    )
    def test_a_bad_line_is_named(self, tmp_path: Path, changes: dict[str, Any], said: str) -> None:
        single(tmp_path, **changes)
        message = error("eraser-movies", tmp_path)
        assert said in message
        assert "occurs twice" in said or "train.jsonl', line 1: " in message

    def test_a_bad_annotation_is_named(self, tmp_path: Path) -> None:
        root = eraser(tmp_path)
        (root / "docs" / "train_negR_1.txt").unlink()
        assert "train_negR_1.txt' cannot be read: No such file" in error("eraser-movies", tmp_path)
        (root / "docs" / "train_negR_1.txt").write_text("too short")
        assert "line 1: the phrase [2, 4) is not within the 2 words" in error("eraser-movies", tmp_path)
        good = {"annotation_id": "a", "classification": "NEG"}
        phrase = {"docid": "a", "start_token": 0, "end_token": 1}
        for evidences, said in (
            ([[{**phrase, "docid": "../secret"}]], "'../secret' is not the name of a file"),
            ([[phrase, {**phrase, "docid": "b"}]], "evidence in 2 documents"),
            ([[{**phrase, "start_token": None}]], "'start_token' must be a whole number"),
            ([["phrase"]], "an evidence must be an object"),
            (["phrase"], "evidence must be a list of groups"),
        ):
            write_lines(root / "train.jsonl", [{**good, "evidences": evidences}])
            assert said in error("eraser-movies", tmp_path)

    def test_a_damaged_file_is_named(self, tmp_path: Path) -> None:
        root = single(tmp_path)
        (root / "val.jsonl").write_text('{"id": 1\n')
        assert "val.jsonl', line 1: not JSON" in error("eraser-movies", tmp_path)
        (root / "val.jsonl").write_text("[1]\n")
        assert "a JSON object is needed, not a list" in error("eraser-movies", tmp_path)
        (root / "val.jsonl").write_bytes(b"\xff\xfe{}\n")
        assert "is not UTF-8" in error("eraser-movies", tmp_path)
        (root / "val.jsonl").unlink()
        (root / "val.jsonl.gz").write_bytes(b"not gzip")
        assert "cannot be unpacked" in error("eraser-movies", tmp_path)
        (root / "val.jsonl").write_text("")
        assert "holds both of val.jsonl and val.jsonl.gz" in error("eraser-movies", tmp_path)
        (root / "val.jsonl").unlink()
        (root / "val.jsonl.gz").unlink()
        assert "is not a complete 'eraser-movies'" in error("eraser-movies", tmp_path)

    def test_real_reviews_have_the_published_sizes_and_their_phrases(self) -> None:
        folder = SHARED / "data" / "eraser-movies"
        if not folder.is_dir():
            pytest.skip(f"real data is not at {folder}")
        data = load("eraser-movies", SHARED / "data")
        assert [len(split) for split in (data.train, data.dev, data.test)] == [1600, 200, 199]
        assert Counter(example.label for example in data.test) == {0: 100, 1: 99}
        assert data.provenance["without rationale"] == "train 1 of 1600 (nothing marked)"
        (review,) = (example for example in data.train if example.id == "negR_003.txt")
        assert review.units[114:117] == ("dead", "on", "arrival")
        assert review.units[386:389] == ("the", "characters", "stink")
        assert review.rationale is not None
        assert review.rationale[113:118] == (False, True, True, True, False)
        assert review.rationale[385:390] == (False, True, True, True, False)
        shares = {
            split: [sum(e.rationale) / len(e.units) for e in getattr(data, split) if e.rationale]
            for split in ("train", "dev", "test")
        }
        means = {split: sum(values) / len(values) for split, values in shares.items()}
        assert means == pytest.approx({"train": 0.0935, "dev": 0.0722, "test": 0.3139}, abs=1e-3)

    def test_real_reviews_cut_short_say_how_many(self) -> None:
        if not (SHARED / "data" / "eraser-movies").is_dir():
            pytest.skip(f"real data is not at {SHARED / 'data' / 'eraser-movies'}")
        data = load("eraser-movies", SHARED / "data", max_length=512)
        assert max(len(example.units) for example in everything(data)) == 512
        long = sum(len(e.units) > 512 for e in load("eraser-movies", SHARED / "data").train)
        assert data.provenance["truncated"].startswith(f"train {long} of 1600 (longer than 512 words)")


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
