"""Tasks with human rationales: what holds for all of them, and movie reviews."""

from __future__ import annotations

import gzip
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from rationale_loading import CARDS, SHARED, error, everything, load, make, marked, write_lines

from attnx.plugin import Card
from attnx.request.spec import Options


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
        assert "train_negR_1.txt' does not exist." in error("eraser-movies", tmp_path)
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
        assert "val.jsonl', line 1, column 9: not valid JSON" in error("eraser-movies", tmp_path)
        (root / "val.jsonl").write_text("[1]\n")
        assert "expected a JSON object, found a list" in error("eraser-movies", tmp_path)
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
