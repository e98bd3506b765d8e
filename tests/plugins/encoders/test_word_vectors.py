"""The words a model knows and the vectors they begin with."""

from __future__ import annotations

import dataclasses
import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from text_building import build, read

from attnx.host.catalog import Catalog
from attnx.plugin import DataError, Example, Source, UsageError
from attnx.testing import toy_data
from attnx_encoders.vocabulary import END, PAD, START, UNKNOWN, Vocabulary
from attnx_encoders.word_vectors import read_vectors

VECTORS = "one 1 2 3\ntwo -0.5 0.25 1e-2\nelsewhere 7 8 9\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS, encoding="utf-8")
    return path


def test_words_are_ordered_by_frequency_then_alphabet() -> None:
    vocabulary = Vocabulary.of([("b", "c", "a"), ("c", "a", "d")])
    assert vocabulary.words[4:] == ("a", "c", "b", "d")
    assert vocabulary.numbers(["a", "d", "e"]) == [4, 7, UNKNOWN]


def test_rare_words_and_words_beyond_the_most_are_unknown() -> None:
    texts = [("b", "c", "a"), ("c", "a", "c")]
    assert Vocabulary.of(texts, min_count=2).words[4:] == ("c", "a")
    assert Vocabulary.of(texts, max_words=1).words[4:] == ("c",)


def test_a_special_name_in_a_text_is_an_unknown_word() -> None:
    assert Vocabulary.of([("<pad>", "a")]).numbers(["<pad>", "<start>", "a"]) == [UNKNOWN, UNKNOWN, 4]


def test_rows_are_padded_at_the_end() -> None:
    rows, lengths = Vocabulary.of([("a",)]).rows([("a", "a"), (), ("b",)], boundaries=True)
    assert rows.tolist() == [[START, 4, 4, END], [START, END, PAD, PAD], [START, UNKNOWN, END, PAD]]
    assert lengths.tolist() == [4, 2, 3]


@pytest.mark.parametrize("name", ["bilstm", "han"])
def test_a_model_that_would_know_no_word_is_refused(name: str) -> None:
    message = r"No word occurs min_count=99 times in the training texts, the most frequent \d+ times; lower"
    with pytest.raises(DataError, match=message):
        build(name, min_count=99)
    with pytest.raises(DataError, match=message):
        build(name, dataclasses.replace(toy_data(), min_count=99))
    with pytest.raises(DataError, match="No word occurs"):
        Vocabulary.of([("<pad>", "<start>")])


def test_words_of_dev_and_test_are_not_learned() -> None:
    model = build("bilstm")
    assert "novel" not in model.vocabulary.number
    batch = model.encode([Example("new", ("one", "novel"), 0)])
    assert batch.inputs[0, 2] == UNKNOWN
    assert batch.mask[0, 2], "an unknown word is a unit all the same"


def test_vectors_of_known_words_are_taken_and_others_drawn(file: Path) -> None:
    model = build("bilstm", embeddings=str(file), embedding=300)
    table, number = model.word_vectors.weight / 10, model.vocabulary.number  # `build` multiplies by 10
    assert table.shape == (len(model.vocabulary), 3)
    torch.testing.assert_close(table[number["one"]], torch.tensor([1.0, 2.0, 3.0]))
    torch.testing.assert_close(table[number["two"]], torch.tensor([-0.5, 0.25, 0.01]))
    assert 0 < float(table[number["three"]].detach().abs().max()) < 1
    assert not table[PAD].any()


@pytest.mark.parametrize("name", ["bilstm", "han"])
def test_learned_vectors_begin_with_the_spread_asked_for(name: str, file: Path) -> None:
    def built(**spread: float) -> torch.Tensor:
        weight: torch.Tensor = build(name, embedding=2000, **spread).word_vectors.weight.detach()
        return weight / 10  # `build` multiplies by 10

    wide = built(spread=2)
    torch.testing.assert_close(wide, 20 * built())  # of the same random numbers
    assert float(wide[PAD + 1 :].std()) == pytest.approx(2, rel=0.05)
    assert not wide[PAD].any()
    model = build(name, embeddings=str(file), spread=2)
    table, number = model.word_vectors.weight / 10, model.vocabulary.number
    torch.testing.assert_close(table[number["one"]], torch.tensor([1.0, 2.0, 3.0]))


def test_compressed_files_and_a_first_line_of_counts_are_read(tmp_path: Path) -> None:
    path = tmp_path / "vectors.vec.gz"
    path.write_bytes(gzip.compress(f"3 3\n{VECTORS}".encode()))
    found, size = read_vectors(path, {"one": 0, "3": 1})
    assert size == 3
    assert list(found) == ["one"]
    assert found["one"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("text", ["two 0.5\none 2\n", "3\t1\none\t2\ntwo\t0.5\n", "two  0.5\r\none  2\r\n"])
def test_vectors_of_one_number_and_any_white_space_are_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(text.encode())
    found, size = read_vectors(path, {"one": 0, "two": 1, "3": 2})
    assert (size, {word: vector.tolist() for word, vector in found.items()}) == (
        1,
        {"one": [2], "two": [0.5]},
    )


def test_white_space_that_is_a_word_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("one 1 2\n\xa0 0.5 4\n  0.5 5\n", encoding="utf-8")
    assert list(read_vectors(path, {"one": 0, "0.5": 1})[0]) == ["one"]


def test_a_word_with_a_space_in_it_is_not_taken_for_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("one 1 2\none more 3 4\n", encoding="utf-8")
    assert read_vectors(path, {"one": 0})[0]["one"].tolist() == [1, 2]


def test_frozen_vectors_do_not_change_in_training(file: Path) -> None:
    model = build("average", embeddings=str(file), freeze=True)
    assert not model.word_vectors.weight.requires_grad
    assert build("average", embeddings=str(file)).word_vectors.weight.requires_grad


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("one 1 2 3\ntwo 1 x 3\n", r"vectors.txt:2: not a word and its vector"),
        ("one 1 2 3\ntwo 1 2\n", r"vectors.txt:2: 2 numbers, but the first vector has 3"),
        ("uno 1 2 3\n", "No word of the training data"),
        ("", r"vectors.txt:1: not a word"),
        ("hello world\none 1 2\n", r"vectors.txt:1: not a word and its vector: .*'world'"),
        ("2 x\none 1 2\n", r"vectors.txt:1: not a word and its vector: .*'x'"),
        ("3 0\none 1 2\n", r"vectors.txt:1: not a word"),
        ("3 " + "9" * 5000, r"vectors.txt:1: .* a number is not finite"),
        ("one 1 2\ntwo 1 nan\n", r"vectors.txt:2: .* a number is not finite"),
        ("one 1 2\ntwo 1 1e39\n", r"vectors.txt:2: .* a number is not finite"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        build("bilstm", embeddings=str(path))


def test_a_damaged_archive_is_a_data_error(tmp_path: Path) -> None:
    path = tmp_path / "vectors.gz"
    whole = gzip.compress(VECTORS.encode())
    flipped = bytes(byte ^ 255 for byte in whole[12:30])
    for damaged in (whole[:-12], whole[:12] + flipped + whole[30:]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"vectors.gz' cannot be unpacked"):
            build("bilstm", embeddings=str(path))


@pytest.mark.parametrize("method", ["open", "is_file"])
def test_a_file_that_may_not_be_read_is_a_data_error(
    file: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, method, refuse)
    with pytest.raises(DataError, match=r"Cannot read .*: Permission denied"):
        build("bilstm", embeddings=str(file))


def test_a_missing_file_and_freezing_nothing_are_usage_errors() -> None:
    with pytest.raises(UsageError, match="no such file"):
        build("bilstm", embeddings="nowhere.txt")
    with pytest.raises(UsageError, match="freeze"):
        build("bilstm", freeze=True)


def test_vectors_of_the_registry_are_fetched_by_name(tmp_path: Path) -> None:
    (tmp_path / "glove-50d").mkdir()
    (tmp_path / "glove-50d" / "glove.6B.50d.txt").write_text(VECTORS)
    source = Source(tmp_path, Catalog.installed().registry.datasets)
    model = build("bilstm", dataclasses.replace(toy_data(), source=source), embeddings="glove-50d")
    assert model.word_vectors.embedding_dim == 3


def test_real_vectors_cover_real_words() -> None:
    shared = Path(os.environ.get("ATTNX_SHARED", Path(__file__).parents[3].parent / "shared"))
    path = shared / "data" / "glove" / "glove.6B.50d.subset.txt.gz"
    if not path.exists():
        pytest.skip(f"real word vectors are not at {path}")
    found, size = read_vectors(path, {"the": 0, "film": 1, "qwxyz": 2})
    assert size == 50
    assert set(found) == {"the", "film"}
    assert np.allclose(found["the"][:3], [0.418, 0.24968, -0.41242])
    logits = read(build("bilstm", embeddings=str(path)), toy_data().test).logits
    assert logits.isfinite().all()


def test_vectors_are_looked_for_in_the_data_directory_of_the_run(tmp_path: Path, cli: Any) -> None:
    (tmp_path / "glove-50d").mkdir()
    (tmp_path / "glove-50d" / "glove.6B.50d.txt").write_text("signal 1 2 3\nother 3 2 1\n")
    model = "mlp:embeddings=glove-50d,hidden=4"
    code, _, err = cli(
        "evaluate", "--task", "sdc-text:train=40,dev=20,test=20", "--model", model, "--metric", "nnz",
        "--train", "epochs=1", "--data-dir", str(tmp_path),
    )  # fmt: skip
    assert (code, err.splitlines()[-1].startswith("error")) == (4, True)
    assert f"'{tmp_path / 'glove-50d' / 'glove.6B.50d.txt'}'" in err


def test_a_file_that_changed_is_read_again(file: Path) -> None:
    before = build("bilstm", embeddings=str(file))
    file.write_text(VECTORS.replace("one 1 2 3", "one 4 5 6"), encoding="utf-8")
    os.utime(file, ns=(0, 0))
    after = build("bilstm", embeddings=str(file))
    row = after.vocabulary.number["one"]
    assert before.word_vectors.weight[row].tolist() == [10, 20, 30]  # `build` multiplies by 10
    assert after.word_vectors.weight[row].tolist() == [40, 50, 60]
