"""Which pieces of a text belong to which of its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from raw_checkpoints import KINDS, LONGEST, TEXTS, byte_level, word_piece
from tiny_checkpoints import texts as sentences
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from attnx.plugin import DataError, Example, UsageError
from attnx_texts.preprocessing import WordSplitter
from attnx_transformers import word_pieces
from attnx_transformers.language.prompts import TemplatePrompt
from attnx_transformers.word_pieces import Piece, WordPieces, words_of


def example(text: str, *units: str) -> Example:
    """A text with these of its words, or with all that the splitter finds."""
    spans = WordSplitter("words", lowercase=False).locate(text)
    if units:
        spans, end = (), 0
        for unit in units:
            start = text.index(unit, end)
            end = start + len(unit)
            spans += ((start, end),)
    words = tuple(text[start:end] for start, end in spans)
    return Example("it", words, 0, text=text, starts=tuple(start for start, _ in spans))


def wrapped(made: Tokenizer, limit: int = LONGEST, template: str = "") -> WordPieces:
    known = next(name for name in ("[UNK]", "<unk>") if made.token_to_id(name) is not None)
    prompt = TemplatePrompt(template) if template else None
    return WordPieces(PreTrainedTokenizerFast(tokenizer_object=made, unk_token=known), limit, prompt)


def by_word(pieces: WordPieces, of: Example) -> dict[str, list[str]]:
    """The pieces of each word that has some."""
    batch = pieces.encode([of])
    found = {}
    for column in batch.mask[0].nonzero()[:, 0].tolist():
        ids = batch.inputs[0, column, :-1]
        word = of.units[int(batch.unit_index[0, column])]
        found[word] = pieces.tokenizer.convert_ids_to_tokens(ids[ids >= 0].tolist())
    return found


def given(*spans: tuple[int, int]) -> Sequence[Piece]:
    return [Piece(0, 0, start, end) for start, end in spans]


@pytest.mark.parametrize(
    ("pieces", "words", "expected"),
    [
        ([(0, 2), (2, 5)], [(0, 2), (2, 5)], [0, 1]),
        ([(0, 3), (3, 5)], [(0, 2), (2, 5)], [0, 1]),  # "don" + "'t" for do + n't
        ([(0, 5)], [(0, 2), (2, 5)], [1]),  # one piece for both goes to the longer
        ([(0, 4)], [(0, 2), (2, 4)], [0]),  # and to the first of equals
        ([(0, 1), (1, 3), (3, 4)], [(0, 4)], [0, 0, 0]),
        ([(-1, -1), (0, 2), (-1, -1)], [(0, 2)], [-1, 0, -1]),  # special pieces
        ([(0, 1), (1, 2), (2, 3)], [(0, 1), (2, 3)], [0, -1, 1]),  # markup between words
        ([(0, 1), (0, 1), (0, 1)], [(0, 1)], [0, 0, 0]),  # the bytes of one character
        ([(0, 1)], [(0, 1), (0, 1), (0, 1)], [0]),  # three words of one character
        ([(0, 2)], [(0, 0), (0, 2)], [1]),  # an empty word
    ],
)
def test_a_piece_goes_to_the_word_it_shares_the_most_with(
    pieces: list[tuple[int, int]], words: list[tuple[int, int]], expected: list[int]
) -> None:
    assert words_of(given(*pieces), words, "x" * 9) == expected


def test_white_space_goes_to_the_word_after_it() -> None:
    assert words_of(given((0, 1), (1, 3), (3, 4), (4, 5)), [(1, 3), (4, 5)], " ab c ") == [0, 0, 1, 1]
    assert words_of(given((0, 2), (2, 3)), [(0, 2)], "ab ") == [0, -1]  # none is after it
    assert words_of(given((0, 0), (0, 2)), [(0, 2)], "ab") == [0, 0]  # a space that was put there


def test_contractions_and_markup() -> None:
    found = by_word(wrapped(byte_level(framed=True)), example("Don't<br />panic"))
    assert list(found) == ["Do", "n't", "panic"]
    assert "".join(found["Do"] + found["n't"]) == "Don't"
    cased = wrapped(word_piece(lowercase=False))
    batch = cased.encode([example("It<br />is")])
    outside = batch.inputs[0, ~batch.mask[0], :-1]
    tokens = cased.tokenizer.convert_ids_to_tokens(outside[outside >= 0].tolist())
    assert tokens[0] == "[CLS]"
    assert tokens[-1] == "[SEP]"
    assert "".join(token.removeprefix("##") for token in tokens[1:-1]) in ("<br/>", "<[UNK]/>")


@pytest.mark.parametrize("kind", KINDS)
def test_every_piece_of_the_text_is_in_one_column_and_units_are_in_order(kind: str) -> None:
    pieces = wrapped(KINDS[kind][1]())
    for text in TEXTS:
        batch = pieces.encode([example(text)])
        units = batch.unit_index[0][batch.mask[0]].tolist()
        assert units == sorted(set(units))
        ids = batch.inputs[0, :, :-1]
        assert ids[ids >= 0].tolist() == pieces.tokenizer(text)["input_ids"]


def test_a_word_that_the_tokenizer_drops_has_no_column() -> None:
    pieces = wrapped(word_piece(lowercase=True))
    found = by_word(pieces, example("a \u200e b", "a", "\u200e", "b"))
    assert list(found) == ["a", "b"]
    assert "[UNK]" not in found["a"] + found["b"]
    batch = pieces.encode([example("a  b", "a", "", "b")])
    assert batch.unit_index[0].tolist() == [-1, 0, 2, -1]


def test_a_text_of_which_nothing_is_left_has_one_empty_word() -> None:
    batch = wrapped(word_piece(lowercase=True)).encode([example("\u200e \u200f", "\u200e", "\u200f")])
    assert batch.unit_index[0].tolist() == [-1, -1, 0]
    assert batch.inputs[0, 2, :-1].tolist() == [-1]


def test_a_prompt_is_cut_at_the_end_of_its_text() -> None:
    whole = wrapped(byte_level(framed=False), template="Is {text} a film?")
    cut = wrapped(byte_level(framed=False), limit=16, template="Is {text} a film?")
    text = example("one two three four five six seven eight nine ten")
    full, short = (pieces.encode([text]) for pieces in (whole, cut))
    assert int((full.inputs[..., :-1] >= 0).sum()) > 16
    assert int((short.inputs[..., :-1] >= 0).sum()) == 16
    tail = full.unit_index[0].tolist()[::-1].index(9)  # columns of the template after the text
    assert short.inputs[0, -tail:, 0].tolist() == full.inputs[0, -tail:, 0].tolist()


def test_no_space_for_the_text_is_an_error_of_the_data() -> None:
    pieces = wrapped(byte_level(framed=False), limit=8, template="one two three four five six {text} it is")
    with pytest.raises(DataError, match=r"'it' leaves no space for its text: .* takes all 8 pieces"):
        pieces.encode([example("bold")])


def test_a_tokenizer_that_knows_no_characters_is_refused() -> None:
    class Slow:
        is_fast = False

    with pytest.raises(UsageError, match="Slow cannot say which characters a piece is made of"):
        WordPieces(Slow(), 9)


def test_texts_are_tokenised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = wrapped(word_piece(lowercase=True))
    asked: list[int] = []
    made = pieces._texts
    monkeypatch.setattr(pieces, "_texts", lambda examples: asked.append(len(examples)) or made(examples))
    some = sentences("one two", "three", "one two")
    first, again = pieces.encode(some), pieces.encode(some[::-1])
    assert asked == [2]  # two are equal
    assert again.inputs[0].tolist() == first.inputs[2].tolist()
    monkeypatch.setattr(word_pieces, "KEPT", 2)
    assert pieces.encode(sentences("four", "one two")).inputs[1].tolist() == first.inputs[0].tolist()


def test_pieces_of_a_query_are_columns_without_a_unit() -> None:
    pieces = wrapped(word_piece(lowercase=True))
    asked: Any = sentences("one two", queries=("two one two",))
    batch = pieces.encode(asked)
    assert batch.unit_index[0].tolist()[:4] == [-1, 0, 1, -1]
    assert set(batch.unit_index[0].tolist()[4:]) == {-1}
