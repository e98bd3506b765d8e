"""Texts become words by the documented rule."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnx_texts import preprocessing
from attnx_texts.preprocessing import WordSplitter

SHARED = Path(os.environ.get("ATTNX_SHARED", Path(__file__).parents[3].parent / "shared"))
TEXTS = st.text(st.sampled_from("abn't 's.,-_19é’<>/\t\n\u200b") | st.characters(codec="utf-8"), max_size=60)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A fine, Fine film!", "a fine , fine film !"),
        ("I don't; he can't, won't.", "i do n't ; he ca n't , wo n't ."),
        ("It's we're I'd I'll I've I'm", "it 's we 're i 'd i 'll i 've i 'm"),
        ("rock'n'roll o'clock", "rock ' n ' roll o ' clock"),
        ("well-made -- really...yes", "well - made -- really ... yes"),
        ("one<br /><br />two<b>three</b>", "one two three"),
        ("2 < 3 and 5 > 4", "2 < 3 and 5 > 4"),
        ("It cost 1,000.50 in the 21st", "it cost 1,000.50 in the 21st"),
        ("‘don’t’ “quote”", "' do n't ' \" quote \""),
        ("ﬁlm\u00a0so\u00adft ze\u200bro", "film soft zero"),
        ("snake_case CAFÉ", "snake _ case café"),
        ("  \n\t ", ""),
    ],
)
def test_words_and_punctuation_are_split(text: str, words: str) -> None:
    assert WordSplitter("words", digits="keep").split(text) == tuple(words.split())


def test_a_word_with_a_digit_becomes_qqq_unless_digits_are_kept() -> None:
    text = "in the 21st century 4 of b2b cost 1,000"
    assert WordSplitter("words").split(text) == tuple("in the qqq century qqq of qqq cost qqq".split())
    assert "21st" in WordSplitter("words", digits="keep").split(text)


def test_case_can_be_kept() -> None:
    assert WordSplitter("words", lowercase=False).split("The END.") == ("The", "END", ".")
    assert WordSplitter("spaces", lowercase=False).split("The END.") == ("The", "END.")


def test_spaces_leaves_pieces_whole() -> None:
    assert WordSplitter("spaces", digits="keep").split("It 's <br /> do-able 3rd") == (
        "it", "'s", "<br", "/>", "do-able", "3rd"
    )  # fmt: skip


def test_words_split_elsewhere_are_taken_one_for_one() -> None:
    assert WordSplitter("words").take(["New York", "isn't", "R2"]) == ("new york", "isn't", "qqq")


@given(TEXTS)
def test_spaces_gives_one_word_for_every_piece(text: str) -> None:
    assert len(WordSplitter("spaces").split(text)) == len(text.split())


@given(TEXTS, TEXTS)
def test_a_text_is_split_the_same_beside_another(first: str, second: str) -> None:
    first, second = (text.replace("<", "").replace(">", "") for text in (first, second))
    splitter = WordSplitter("words")
    assert splitter.split(f"{first} {second}") == splitter.split(first) + splitter.split(second)


@given(st.text(st.sampled_from("abn't 's.,-_19é!?(\n"), max_size=60))
def test_no_character_is_lost_but_white_space(text: str) -> None:
    words = WordSplitter("words", digits="keep").split(text)
    assert "".join(words) == "".join(text.lower().split())
    assert not any(word.isspace() or not word for word in words)


def test_equal_words_are_one_object() -> None:
    first = WordSplitter("words").split("a wonderful thing")[1]
    second = WordSplitter("spaces").split("Wonderful wonderful")
    assert first is second[0] is second[1]
    assert first is sys.intern("wonder" + "ful")


def test_forgetting_pieces_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "one two three don't one two three don't"
    whole = WordSplitter("words").split(text)
    monkeypatch.setattr(preprocessing, "KEPT", 2)
    splitter = WordSplitter("words")
    assert splitter.split(text) == whole
    assert len(splitter._pieces) <= 2


def test_a_very_long_piece_takes_no_time() -> None:
    assert WordSplitter("words").split("a" * 200_000) == ("a" * 200_000,)
    assert len(WordSplitter("words").split("'" * 100_000 + "n" * 100_000)) == 100_001


def test_real_reviews_are_split_where_an_independent_tokeniser_splits_them() -> None:
    """BERT's pre-tokeniser cuts at white space and around every punctuation mark, and so do we,
    but that we keep runs of dots, numbers and contractions together."""
    pre_tokenizers = pytest.importorskip("tokenizers.pre_tokenizers")
    path = SHARED / "data/imdb/test.jsonl.gz"
    if not path.exists():
        pytest.skip(f"real reviews are not at {path}")
    cut = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    splitter = WordSplitter("words", digits="keep")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for _, line in zip(range(500), file, strict=False):
            text = json.loads(line)["text"].lower().replace("n't", "nt").replace("<br />", " ")
            if not text.isascii() or "<" in text:
                continue
            ours = [part for word in splitter.split(text) for part, _ in cut(word)]
            assert ours == [part for part, _ in cut(text)]


@pytest.mark.parametrize(
    ("text", "made_of"),
    [
        ("It's FINE… isn't it?", "It 's FINE … is n't it ?"),
        ("one<br />two <b>three</b>", "one two three"),
        ("“Quoted” ﬁlm", "“ Quoted ” ﬁlm"),
        ("E\u0301te\u0301 so\u00adft", "E\u0301te\u0301 so\u00adft"),
        ("👍🏽 שלום", "👍 🏽 שלום"),
        ("in 1999, b2b", "in 1999 , b2b"),
    ],
)
def test_the_characters_of_each_word_are_found(text: str, made_of: str) -> None:
    splitter = WordSplitter("words")
    assert [text[start:end] for start, end in splitter.locate(text)] == made_of.split()


@given(TEXTS, st.booleans())
def test_every_word_has_characters_of_its_own_text(text: str, lowercase: bool) -> None:
    for rule in ("words", "spaces"):
        splitter = WordSplitter(rule, digits="keep", lowercase=lowercase)  # type: ignore[arg-type]
        words, spans = splitter.split(text), splitter.locate(text)
        assert len(words) == len(spans)
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert [start for start, _ in spans] == sorted(start for start, _ in spans)
        for word, (start, end) in zip(words, spans, strict=True):
            if text[start:end].isascii():
                assert (text[start:end].lower() if lowercase else text[start:end]) == word
