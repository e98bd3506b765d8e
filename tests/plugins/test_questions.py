"""Stories with a question: the published format, and our own, whose answers a simple reader checks."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from attnx.host.catalog import Catalog
from attnx.plugin import DataError, Example, Source, TaskData
from attnx.registry.schema import read_registry
from attnx.request.resolve import find_part
from attnx.request.spec import Choice
from attnx.testing import assert_conforms
from attnx_questions.babi import BabiOne, BabiTwo
from attnx_questions.generated import DROPS, PLACES, TAKES, GeneratedStories
from attnx_questions.options import BabiOptions, GeneratedOptions

SHARED = Path(os.environ.get("ATTNX_SHARED", Path(__file__).parents[2].parent / "shared"))
TRAIN = """1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Mary went back to the hallway.
5 Where is Mary? \thallway\t4
1 Sandra is in the hallway.
2 Where is Sandra? \thallway\t1
1 Sandra is in the bathroom.
2 Where is Sandra? \tbathroom\t1
"""


def babi(folder: Path, *, train: str = TRAIN, test: str = TRAIN, **options: int) -> TaskData:
    (folder / "qa1_single-supporting-fact_train.txt").write_text(train)
    (folder / "qa1_single-supporting-fact_test.txt").write_text(test)
    return BabiOne(BabiOptions(**options)).load(Source(folder, read_registry(()).datasets))


def sentences(example: Example) -> list[tuple[tuple[str, ...], bool]]:
    """The sentences of an example, and whether each is in the rationale."""
    assert example.rationale is not None
    found, words, marks = [], [], set()
    for unit, marked in zip(example.units, example.rationale, strict=True):
        if unit == ".":
            assert not marked
            assert len(marks) == 1, "a sentence is in the rationale whole or not at all"
            found.append((tuple(words), marks.pop()))
            words = []
        else:
            words.append(unit)
            marks.add(marked)
    return found


def test_a_question_sees_only_earlier_sentences(tmp_path: Path) -> None:
    data = babi(tmp_path, dev=30)
    assert data.label_names == ("bathroom", "hallway")
    first, second = data.test[:2]
    assert first.units == tuple("mary moved to the bathroom . john went to the hallway .".split())
    assert first.query == ("where", "is", "mary")
    assert [marked for _, marked in sentences(first)] == [True, False]
    assert (data.label_names[second.label], [marked for _, marked in sentences(second)]) == (
        "hallway",
        [False, False, True],
    )
    assert "qa1_single-supporting-fact_train.txt" in data.provenance["files"]


def test_stories_are_divided_whole(tmp_path: Path) -> None:
    data = babi(tmp_path, dev=34)
    assert len(data.train) + len(data.dev) == 4
    assert not {e.id for e in data.train} & {e.id for e in data.dev}


def test_only_the_last_sentences_can_be_kept(tmp_path: Path) -> None:
    first = babi(tmp_path, max_sentences=1).test[0]
    assert first.units == tuple("john went to the hallway .".split())
    assert first.rationale is None  # it was cut off: nothing is known of what is left


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mary moved.\n", "line 1: expected a number, a space and a sentence"),
        (
            "1 Mary moved to the attic.\n2 Where is Mary?\tattic\t7\n",
            "sentence 7 is not before the question",
        ),
        ("1 Where is Mary?\tattic\t\n", "line 1: a question before any sentence"),
        ("1 Mary moved to the attic.\n2 Where is Mary?\t \t1\n", "line 2: the answer is missing"),
        ("1 Mary moved to the attic.\n2 Where is Mary?\tattic\t1\n", "'attic' of question test-000002"),
    ],
)
def test_a_damaged_file_is_reported_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as refused:
        babi(tmp_path, test=text)
    assert message in str(refused.value)


def test_a_missing_kind_is_named(tmp_path: Path) -> None:
    babi(tmp_path)
    with pytest.raises(DataError, match=r"must contain one file qa2_\*train\*.txt\*; found none"):
        BabiTwo(BabiOptions()).load(Source(tmp_path, read_registry(()).datasets))


@pytest.mark.skipif(not (SHARED / "data" / "babi").is_dir(), reason="no published files here")
def test_the_published_files_have_their_published_sizes() -> None:
    source = Source(SHARED / "data", read_registry(()).datasets)
    one, two = (task(BabiOptions()).load(source) for task in (BabiOne, BabiTwo))
    for data, facts in ((one, 1), (two, 2)):
        assert (len(data.train) + len(data.dev), len(data.test)) == (10_000, 1_000)
        assert len(data.label_names) == 6
        assert {sum(marked for _, marked in sentences(e)) for e in data.test} == {facts}
    for example in one.test:  # the sentence that supports the answer ends with it
        (supporting,) = [words for words, marked in sentences(example) if marked]
        assert supporting[-1] == one.label_names[example.label]


def answer(story: list[tuple[str, ...]], question: tuple[str, ...]) -> str | None:
    """The answer of a reader who follows the story word by word."""
    place: dict[str, str] = {}
    holder: dict[str, str] = {}
    been: dict[str, list[str]] = {}
    for words in story:
        person, last = words[0], words[-1]
        verb = " ".join(words[1:-2])
        if last in PLACES:
            place[person] = last
            for thing in [thing for thing, who in holder.items() if who == person]:
                been.setdefault(thing, []).append(last)
        elif verb in TAKES:
            holder[last] = person
            if person in place and been.get(last, [""])[-1] != place[person]:
                been.setdefault(last, []).append(place[person])
        elif verb in DROPS:
            holder.pop(last, None)
            if person in place and been.get(last, [""])[-1] != place[person]:
                been.setdefault(last, []).append(place[person])
    if question[1] == "was":
        places = been.get(question[3], [])
        at = places.index(question[-1]) if question[-1] in places else 0
        return places[at - 1] if at else None
    if len(question) == 3:
        return place.get(question[-1])
    return been.get(question[-1], [None])[-1]


@pytest.mark.parametrize("facts", [1, 2, 3])
def test_generated_answers_follow_from_the_story_and_from_its_supporting_sentences(facts: int) -> None:
    data = GeneratedStories(GeneratedOptions(facts=facts, train=120, dev=6, test=6)).load(Source())
    for example in data.train:
        story = sentences(example)
        right = data.label_names[example.label]
        supporting = [words for words, marked in story if marked]
        assert example.query is not None
        assert len(supporting) == facts
        assert answer([words for words, _ in story], example.query) == right
        assert answer(supporting, example.query) == right
        for left_out in range(facts):  # none of them can be spared
            rest = [words for n, words in enumerate(supporting) if n != left_out]
            assert answer(rest, example.query) != right
    assert set(Counter(e.label for e in data.train).values()) == {20}


@pytest.mark.parametrize("ask", ["question", "name"])
def test_everybody_is_in_a_place_of_their_own_where_nobody_moves(ask: Any) -> None:
    options = GeneratedOptions(each_once=True, ask=ask, train=60, dev=6, test=6)
    data = GeneratedStories(options).load(Source())
    for example in data.train:
        story = sentences(example)
        people, places = [words[0] for words, _ in story], [words[-1] for words, _ in story]
        assert len(story) in (4, 5)
        assert len(set(people)) == len(set(places)) == len(story)
        assert example.query is not None
        assert example.query[:-1] == (("where", "is") if ask == "question" else ())
        ((words, _),) = [one for one in story if one[1]]
        assert words == (example.query[-1], "is", "in", "the", data.label_names[example.label])
    assert set(Counter(e.label for e in data.train).values()) == {10}


@pytest.mark.parametrize("options", [{"each_once": True}, {"ask": "name"}])
def test_a_person_is_asked_for_only_where_questions_are_about_people(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="asks where a person is: facts=1, not facts=2"):
        GeneratedOptions(facts=2, **options)


def test_another_seed_gives_other_stories_and_the_same_seed_the_same() -> None:
    first, again, other = (
        GeneratedStories(GeneratedOptions(train=12, dev=6, test=6, seed=seed)).load(Source())
        for seed in (0, 0, 1)
    )
    assert first == again
    assert first.train != other.train


def test_generated_stories_pass_the_conformance_tests() -> None:
    assert_conforms("task", GeneratedStories(GeneratedOptions(facts=3)))


@pytest.mark.parametrize("name", ["esnli", "hatexplain", "eraser-movies", "babi-1", "babi-generated"])
def test_a_text_that_somebody_gives_becomes_the_units_it_would_have_been(name: str) -> None:
    part = find_part(Catalog.installed(), "task", Choice(name=name))
    task = part.make()
    for example in task.sample().test:
        assert task.units_of(" ".join(example.units)) == example.units
        assert example.query is None or task.units_of(f"{' '.join(example.query)} ?")[
            : len(example.query)
        ] == (example.query)


def test_stories_and_pairs_are_cut_as_people_write_them() -> None:
    stories = GeneratedStories(GeneratedOptions())
    assert stories.units_of("Mary went home. John left.") == tuple("mary went home . john left .".split())
    assert stories.units_of("Where is Mary?") == ("where", "is", "mary")
    pairs = find_part(Catalog.installed(), "task", Choice(name="esnli")).make()
    assert pairs.units_of("A man sleeps. <sep> He's up!") == tuple("a man sleeps . <sep> he's up !".split())
