"""Planted tasks: the deciding words decide, and nothing else knows the label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from attnx.host.catalog import Catalog
from attnx.plugin import Example, Source, TaskData, UsageError
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx_audit.distractors import DECIDING_TOPICS, FEELINGS, OTHER_TOPICS, OTHERS, PlantedDistractors
from attnx_audit.options import DistractorsOptions, PronounsOptions
from attnx_audit.planted import read_as
from attnx_audit.pronouns import PRONOUNS, TITLES, PlantedPronouns

TASKS = {
    "pronouns": (PlantedPronouns, PronounsOptions),
    "distractors": (PlantedDistractors, DistractorsOptions),
}
every_task = pytest.mark.parametrize("name", TASKS)


def load(name: str, **options: Any) -> TaskData:
    task, options_class = TASKS[name]
    return task(options_class(**options)).load(Source())


def words(example: Example, deciding: bool) -> list[str]:
    assert example.rationale is not None
    return [word for word, here in zip(example.units, example.rationale, strict=True) if here == deciding]


def p_values(found: list[tuple[set[str], int]]) -> dict[str, float]:
    """Of every word that is neither rare nor everywhere: is its presence independent of the label?"""
    counts = Counter(word for present, _ in found for word in present)
    labels = np.array([label for _, label in found])
    common = [word for word, count in counts.items() if 20 <= count <= len(found) - 20]
    tables = {}
    for word in common:
        here = np.array([word in present for present, _ in found])
        tables[word] = [[np.sum(here & (labels == y)), np.sum(~here & (labels == y))] for y in (0, 1)]
    return {word: chi2_contingency(table).pvalue for word, table in tables.items()}


@every_task
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_text_with_the_other_label_differs_only_in_deciding_words(name: str, seed: int) -> None:
    task, options = TASKS[name]
    text = task(options()).write(np.random.default_rng(seed))
    one, other = (read_as(text, label, label, "it") for label in (0, 1))
    assert one.units != other.units
    assert words(one, deciding=False) == words(other, deciding=False)
    assert one.rationale == other.rationale


@every_task
def test_no_other_word_reveals_the_label(name: str) -> None:
    data = load(name, train=3000, dev=2, test=2)
    others = p_values([({*words(example, deciding=False)}, example.label) for example in data.train])
    assert len(others) > 30
    assert min(others.values()) > 0.01 / len(others)
    deciding = p_values([({*words(example, deciding=True)}, example.label) for example in data.train])
    assert min(deciding.values()) < 1e-20, "the test would not see a word that tells"


@every_task
def test_a_classifier_learns_the_label_from_the_words_and_nothing_from_the_rest(name: str) -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    data = load(name, train=2000, dev=2, test=1000)

    def accuracy(deciding: tuple[bool, ...]) -> float:
        def texts(split: tuple[Example, ...]) -> list[str]:
            return [" ".join(word for keep in deciding for word in words(e, keep)) for e in split]

        counts = CountVectorizer(token_pattern=r"\S+", ngram_range=(1, 2))
        model = LogisticRegression(max_iter=500).fit(
            counts.fit_transform(texts(data.train)), [e.label for e in data.train]
        )
        return float(model.score(counts.transform(texts(data.test)), [e.label for e in data.test]))

    assert accuracy((True,)) == 1.0
    assert abs(accuracy((False,)) - 0.5) < 4 * 0.5 / 1000**0.5


@every_task
def test_texts_are_short_balanced_and_marked(name: str) -> None:
    data = load(name, train=501, dev=100, test=60, seed=3)
    assert [len(data.train), len(data.dev), len(data.test)] == [501, 100, 60]
    assert sum(example.label for example in data.train) == 250
    assert sum(example.label for example in data.dev) == 50
    for example in (*data.train, *data.dev, *data.test):
        assert 15 <= len(example.units) <= 45
        assert example.rationale is not None
        assert 1 <= sum(example.rationale) <= 3
    assert len({example.units for example in data.train}) > 490
    lengths = np.array([[len(e.units), e.label] for e in data.train])
    assert abs(np.corrcoef(lengths.T)[0, 1]) < 0.15


@every_task
def test_the_seed_of_the_data_decides_its_texts(name: str) -> None:
    first, again, other = (load(name, train=20, dev=4, test=4, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first.train != other.train


def test_every_pronoun_and_title_determines_the_label() -> None:
    tell = [{pair[label] for pair in (*PRONOUNS.values(), TITLES)} for label in (0, 1)]
    assert not tell[0] & tell[1]
    data = load("pronouns", train=400)
    for example in data.train:
        assert set(words(example, deciding=True)) <= tell[example.label]
        assert not set(words(example, deciding=False)) & (tell[0] | tell[1])
    assert Counter(sum(e.rationale or ()) for e in data.train).keys() == {1, 2, 3}
    alone = load("pronouns", train=100, deciding=1)
    assert {sum(e.rationale or ()) for e in alone.train} == {1}


def polarities(pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    return {word: label for pair in pairs for label, word in enumerate(pair)}


def test_each_thing_is_judged_in_its_own_words() -> None:
    lists = [polarities(pairs).keys() for pairs in (FEELINGS, *OTHERS.values())]
    everything = [word for words_of_one in lists for word in words_of_one]
    assert len(everything) == len(set(everything)) == sum(2 * len(p) for p in (FEELINGS, *OTHERS.values()))


@pytest.mark.parametrize("feelings", ["own", "shared"])
@pytest.mark.parametrize("distractors", [1, 2, 3])
def test_the_sentence_about_the_film_decides_and_no_other(distractors: int, feelings: str) -> None:
    of_film = polarities(FEELINGS)
    polarity = (
        of_film if feelings == "shared" else polarities([p for pairs in OTHERS.values() for p in pairs])
    )
    data = load("distractors", train=600, distractors=distractors, feelings=feelings)
    feelings_elsewhere = []
    for example in data.train:
        sentences = [sentence.split() for sentence in " ".join(example.units).split(" .") if sentence]
        assert len(sentences) == distractors + 1
        about_film = [s for s in sentences if set(s) & {*DECIDING_TOPICS}]
        (film,) = about_film
        assert {of_film[word] for word in film if word in of_film} == {example.label}
        deciding = {*of_film, *(DECIDING_TOPICS if feelings == "shared" else ())}
        assert words(example, deciding=True) == [w for w in film if w in deciding]
        for other in sentences:
            if other is not film:
                assert len(set(other) & {*OTHER_TOPICS}) == 1
                (feeling,) = {polarity[word] for word in other if word in polarity}
                feelings_elsewhere.append((feeling, example.label))
    agree = np.mean([feeling == label for feeling, label in feelings_elsewhere])
    assert abs(agree - 0.5) < 4 * 0.5 / len(feelings_elsewhere) ** 0.5


@every_task
def test_permuted_labels_are_decided_by_nothing_and_the_texts_stay(name: str) -> None:
    true = load(name, train=2000, dev=200, test=400)
    permuted = load(name, train=2000, dev=200, test=400, labels="permuted")
    for split in ("train", "dev", "test"):
        before, after = getattr(true, split), getattr(permuted, split)
        assert [e.units for e in before] == [e.units for e in after]
        assert all(e.rationale is None for e in after)
        assert sum(e.label for e in before) == sum(e.label for e in after)
        agree = np.mean([a.label == b.label for a, b in zip(before, after, strict=True)])
        assert abs(agree - 0.5) < 4 * 0.5 / len(before) ** 0.5
    found = p_values([({*example.units}, example.label) for example in permuted.train])
    assert min(found.values()) > 0.01 / len(found)


@every_task
def test_a_rationale_is_promised_only_where_words_decide(name: str) -> None:
    catalog = Catalog.installed()
    asked = {"metrics": ("focus",), "explanations": ("oracle",)}
    plan = resolve(RunSpec.model_validate({"task": f"planted-{name}", **asked}), catalog)
    assert "rationale" in plan.task.provides
    assert plan.model.label == "bilstm-add"
    with pytest.raises(UsageError, match=r"oracle.*needs known important units"):
        resolve(RunSpec.model_validate({"task": f"planted-{name}:labels=permuted", **asked}), catalog)
