"""Words grouped into sentences and paragraphs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnx.plugin import Example, group_units

TEXT = 'He said "Go!" twice (why?). She left... at 3.5 p.m. today\n\nA new one, with no end\n \nlast.'


def example(text: str, rationale: Any = None) -> Example:
    spans = [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]
    units = tuple(text[start:end] for start, end in spans)
    return Example("x", units, 0, text=text, starts=tuple(start for start, _ in spans), rationale=rationale)


def test_sentences_end_at_their_marks_and_at_blank_lines() -> None:
    found = group_units(example("A dull film. Is it? “Yes!” Good\n\nnext one"), "sentences")
    assert found.units == ("A dull film.", "Is it?", "“Yes!”", "Good", "next one")


def test_paragraphs_end_at_blank_lines_alone() -> None:
    found = group_units(example(TEXT), "paragraphs")
    assert found.units == (TEXT.split("\n\n")[0], "A new one, with no end", "last.")


def test_words_stay_as_they_are() -> None:
    assert group_units(example(TEXT), "words") == example(TEXT)


def test_a_group_is_marked_if_one_of_its_words_is() -> None:
    marked = example("a b. c d.", (False, True, False, False, False, False))
    assert group_units(marked, "sentences").rationale == (True, False)


def test_words_without_a_text_are_joined_by_spaces() -> None:
    found = group_units(Example("x", ("a", "b", ".", "c"), 0, query=("why", "c")), "sentences")
    assert found.units == ("a b .", "c")
    assert found.text == "a b . c"
    assert found.query_text == "why c"


@given(st.text(alphabet='ab .!?\n")', min_size=1, max_size=60), st.sampled_from(["sentences", "paragraphs"]))
def test_groups_hold_every_word_once_and_in_order(text: str, units: Any) -> None:
    words = example(text)
    found = group_units(words, units)
    inside = [unit for group in found.units for unit in re.findall(r"\w+|[^\w\s]", group)]
    assert inside == list(words.units)
    for unit, start in zip(found.units, found.starts or (), strict=True):
        assert text[start : start + len(unit)] == unit


@pytest.mark.parametrize("units", ["sentences", "paragraphs"])
def test_a_text_without_marks_is_one_group(units: Any) -> None:
    assert len(group_units(example("no marks at all"), units).units) == 1
