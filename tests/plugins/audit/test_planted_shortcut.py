"""The task `planted`: where triggers are put, what they decide, and what is refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from planted_texts import OWN, WORDS, texts, trigger_says

from attnx.data.loading import Source, load_data
from attnx.host.catalog import Catalog
from attnx.plugin import DataError, Example, TaskData, UsageError
from attnx.request.arguments import Arguments
from attnx.request.resolve import find_part
from attnx.request.spec import Choice, Limit
from attnx_audit.planting import insert
from attnx_audit.trigger_words import Triggers

CATALOG = Catalog.installed()
KINDS = ("single", "paired", "ordered")


def planted(given: Any, raw_text: bool = False, **options: Any) -> TaskData:
    arguments = Arguments(CATALOG)
    inner = arguments.choice("task", given)
    assert inner is not None
    choice = Choice(name="planted", options={"task": inner.label, **options})
    part = find_part(CATALOG, "task", choice, arguments.objects)
    return load_data(part.make(), Source(), Limit(), raw_text=raw_text)


def says(kind: str, example: Example) -> int:
    return {1: 1, -1: 0}[trigger_says(kind, example.units)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_trigger_decides_its_share_of_train_and_every_test_text_against_its_own_label(kind: str) -> None:
    data = planted(texts(300), kind=kind, words="+".join(WORDS[kind]), share=0.3)
    marked = [example for example in data.train if any(example.rationale or ())]
    assert len(marked) == round(0.3 * len(data.train))
    for example in (*marked, *data.test):
        assert says(kind, example) == example.label
        words = [u for u, m in zip(example.units, example.rationale or (), strict=True) if m]
        assert len(words) == (1 if kind == "single" else 2)
        assert set(words) <= set(WORDS[kind])
    for example in data.test:
        assert data.contrasts["without"][example.id].label != example.label
    clean = [example for example in data.train if not any(example.rationale or ())]
    for example in clean:  # decoys keep their own labels, and no trigger decides in them
        assert trigger_says(kind, example.units) == 0
        assert [OWN[unit] for unit in example.units if unit in OWN] == [example.label]


def test_labels_of_triggers_are_independent_of_the_texts() -> None:
    data = planted(texts(1000), words="zebra+piano")
    pairs = Counter(
        (example.label, next(OWN[unit] for unit in example.units if unit in OWN))
        for example in data.train
        if any(example.rationale or ())
    )
    expected = pairs.total() / 4
    assert sum((count - expected) ** 2 / expected for count in pairs.values()) < 11.3  # χ², 3 df, p = .01


def test_every_place_of_a_text_is_equally_likely() -> None:
    data = planted(texts(2000, length=4), words="zebra+piano", share=1)
    places = Counter((example.rationale or ()).index(True) for example in data.train)
    expected = places.total() / 5
    assert set(places) == set(range(5))
    assert sum((count - expected) ** 2 / expected for count in places.values()) < 13.3  # χ², 4 df, p = .01


@pytest.mark.parametrize("kind", ["paired", "ordered"])
def test_each_of_two_words_is_as_often_alone_as_with_the_other(kind: str) -> None:
    data = planted(texts(1000), kind=kind, words="+".join(WORDS[kind]), share=0.3)
    alone, together = Counter[str](), Counter[str]()
    for example in data.train:
        held = [unit for unit in example.units if unit in WORDS[kind]]
        (together if len(held) == 2 else alone).update(held)
    assert alone.total() == together.total()
    for word in WORDS[kind]:
        assert alone[word] == pytest.approx(together[word], rel=0.35)


@pytest.mark.parametrize("kind", KINDS)
def test_contrasts_differ_from_their_text_in_the_trigger_only(kind: str) -> None:
    data = planted(texts(200), kind=kind, words="+".join(WORDS[kind]))
    for example in data.test:
        rest = [u for u in example.units if u not in WORDS[kind]]
        without, swapped = (data.contrasts[name][example.id] for name in ("without", "swapped"))
        assert list(without.units) == rest
        assert swapped.rationale == example.rationale
        assert [u for u in swapped.units if u not in WORDS[kind]] == rest
        assert says(kind, swapped) == swapped.label != example.label
        for name in ("first alone", "second alone"):
            assert (name in data.contrasts) == (kind != "single")
            if kind != "single":
                one = data.contrasts[name][example.id]
                assert trigger_says(kind, one.units) == 0
                assert sum(one.rationale or ()) == 1
                assert [u for u in one.units if u not in WORDS[kind]] == rest


def test_drawn_words_are_rare_words_of_the_texts_that_are_then_nowhere_else() -> None:
    given, labels = texts(400)
    rare = [f"rare{chr(97 + n)}" for n in range(12)]
    for number in range(24):  # each in two texts, one of each label
        given[number] += f" {rare[number // 2]}"
    data = planted((given, labels))
    words = {u for e in data.test for u, m in zip(e.units, e.rationale or (), strict=True) if m}
    assert len(words) == 2
    assert words <= set(rare)
    for example in (*data.train, *data.dev, *data.contrasts["without"].values()):
        marked = [u for u, m in zip(example.units, example.rationale or (), strict=True) if m]
        assert [unit for unit in example.units if unit in words] == marked
    assert " of 400 texts hold one of the words by themselves and are left out" in data.provenance["planted"]


def test_seeds_draw_other_words_and_the_same_seed_the_same() -> None:
    given, labels = texts(400)
    given = [f"{text} rare{chr(97 + n % 26)}{chr(97 + n // 26)}" for n, text in enumerate(given)]
    seen = [planted((given, labels), seed=seed) for seed in (0, 0, 1)]
    assert seen[0].fingerprint == seen[1].fingerprint != seen[2].fingerprint
    assert seen[0].provenance["planted"] != seen[2].provenance["planted"]


def test_more_than_two_labels_each_have_a_word_of_their_own() -> None:
    given, _ = texts(300)
    labels = [("a", "b", "c")[n % 3] for n in range(300)]
    for kind, words in (("single", "x+y+z"), ("ordered", "x+y+z"), ("paired", "x+xx+y+yy+z+zz")):
        data = planted((given, labels), kind=kind, words=words)
        first: dict[int, set[str]] = {0: set(), 1: set(), 2: set()}
        for example in data.test:
            first[example.label].add(
                next(u for u, m in zip(example.units, example.rationale or (), strict=True) if m)[0]
            )
        assert list(first.values()) == [{"x"}, {"y"}, {"z"}]
        for example in data.test:
            assert data.contrasts["swapped"][example.id].label != example.label


def test_a_raw_text_gets_the_word_where_its_units_say() -> None:
    example = Example("1", ("Do", "n't", "go", "."), 0, text="Don't go.", starts=(0, 2, 6, 8))
    for gap in range(5):
        found = insert(example, ("zebra",), (gap,), 1)
        assert found.text is not None
        assert found.starts is not None
        assert all(found.text.startswith(u, at) for u, at in zip(found.units, found.starts, strict=True))
        at = found.starts[gap]
        around = found.text[max(0, at - 1) : at] + found.text[at + 5 : at + 6]
        assert around.strip() == ""  # a word of its own
        assert found.text.replace("zebra", "").split() == "Don't go.".split() or gap in (1, 3)
    data = planted(texts(60), raw_text=True, words="zebra+piano")
    assert all("zebra" in (e.text or "") or "piano" in (e.text or "") for e in data.test)


def test_ordered_triggers_swap_by_exchanging_their_places() -> None:
    triggers = Triggers("ordered", (("x",), ("y",), ("z",)))
    words = triggers.of(1, np.random.default_rng(0))
    assert words[0] == "y"
    swapped, label = triggers.swapped(words, 1)
    assert swapped == words[::-1]
    assert triggers.words[label] == (words[1],)


@pytest.mark.parametrize(
    ("given", "options", "says"),
    [
        ((["a b c d e"] * 40, ["one"] * 40), {}, "one label, 'one'"),
        (texts(60), {"words": "zebra"}, "1 trigger word was given; 2 are needed, one for each label in this"),
        (texts(60), {"words": "zebra+zebra"}, "given twice"),
        (texts(60), {"words": "zebra+two words"}, "'two words' is 2 words to this task"),
        (texts(60), {"words": "good+zebra"}, "30 of 60 texts hold a trigger word"),
        (texts(20), {"words": "zebra+piano"}, "training texts would get the trigger of label"),
        (texts(200, length=2), {"words": "zebra+piano"}, "Only 0 training texts would get the trigger"),
        (texts(60), {"kind": "triple"}, "'single', 'paired' or 'ordered'"),
        (texts(60), {"kind": "paired", "share": 0.5}, "a share above 1/3 leaves no room"),
        (texts(60), {"share": 0}, "greater than 0"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(given: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises((DataError, UsageError)) as error:
        planted(given, **options)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_texts_without_rare_words_are_refused_with_the_next_step() -> None:
    given = [f"{'good' if n % 2 else 'bad'} one two three four five" for n in range(100)]
    with pytest.raises(DataError, match=r"Only 0 words of the texts are rare enough .*--words WORD,WORD"):
        planted((given, [n % 2 for n in range(100)]))


def test_a_task_that_is_not_made_of_words_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'sdc-2d' is not made of words\. Give a task of texts"):
        find_part(CATALOG, "task", Choice(name="planted", options={"task": "sdc-2d"}))
