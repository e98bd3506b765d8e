"""The truth table on models whose rule is known exactly; the slow part repeats it on many texts and seeds."""

from __future__ import annotations

from functools import cache

import pytest
from explanations_of_known_quality import ForAndAgainst, Noisy, RightInSome

import attnx
from attnx.results import Report
from attnx.results.judgement.records import GRADES

RULES = ("one-word", "copies", "and", "xor", "order", "negation", "place", "shortened", "constant", "balance")
SHARES = (0.1, 0.25, 0.5, 0.75)
UNINFORMATIVE = ("random:seed=3", "first", "last")
ABOVE_RANDOM = GRADES[GRADES.index("weak") :]


@cache
def report(rule: str, texts: int = 240, seed: int = 1) -> Report:
    signed = [ForAndAgainst(), ForAndAgainst(-1.0)] if rule == "balance" else []
    return attnx.evaluate(
        f"planted-rules:rule={rule},train=150,dev=10,test={texts},seed={seed}",
        f"rule-reader:rule={rule}",
        explanations=["oracle", "anti-oracle", *UNINFORMATIVE, *map(RightInSome, SHARES), *signed],
        metrics="faithfulness",
        progress=False,
    )


def grades(found: Report) -> dict[str, str]:
    return {v.explanation: v.grade for v in found.verdicts if v.heading == "faithfulness"}


@pytest.mark.parametrize("rule", RULES)
def test_the_right_explanation_is_strong_and_its_inverse_misleading(rule: str) -> None:
    found = grades(report(rule))
    assert (found["oracle"], found["anti-oracle"]) == ("strong", "misleading")


@pytest.mark.parametrize("rule", RULES)
def test_the_share_follows_how_often_an_explanation_is_right(rule: str) -> None:
    shares = [v.share for v in report(rule).verdicts if v.explanation.startswith("RightInSome") and v.share]
    assert len(shares) == len(SHARES)
    assert all(abs(found - wanted) < 0.1 for found, wanted in zip(shares, SHARES, strict=True)), shares


def test_scores_that_know_nothing_are_not_above_random() -> None:
    above = [
        (rule, name) for rule in RULES for name in UNINFORMATIVE if grades(report(rule))[name] in ABOVE_RANDOM
    ]
    assert len(above) <= 1, above  # of 30, each of which may err in one of forty


def test_signs_of_words_for_and_against_are_strong_and_their_negation_misleading() -> None:
    found = grades(report("balance"))
    assert (found["ForAndAgainst"], found["ForAndAgainst'"]) == ("strong", "misleading")


LEADING = {"place": "replace", "shortened": "replace", "constant": "replace", "copies": "delete"}


@pytest.mark.parametrize(("rule", "leads"), LEADING.items())
def test_the_removal_that_disturbs_less_leads(rule: str, leads: str) -> None:
    removals = report(rule).verdicts[0].removals
    assert removals[0].removal == leads
    assert (removals[0].disturbance or 0) <= (removals[1].disturbance or 0)


def test_noise_on_the_scores_does_not_reorder_explanations() -> None:
    """Scores that move by a thousandth of their size: the shares stay, and so does their order."""
    good, poor = RightInSome(0.75), RightInSome(0.25)
    found = attnx.evaluate(
        "planted-rules:rule=and,train=100,dev=4,test=120,seed=2",
        "rule-reader:rule=and",
        explanations=[good, poor, Noisy(good), Noisy(poor)],
        metrics="faithfulness",
        progress=False,
    )
    shares = [v.share or 0.0 for v in found.verdicts if v.heading == "faithfulness"]
    assert shares[2:] == pytest.approx(shares[:2], abs=0.03)
    assert shares[0] > shares[1] + 0.2


def test_a_model_that_no_word_decides_has_nothing_to_rank() -> None:
    found = report("length")
    assert {v.grade for v in found.verdicts if v.heading == "faithfulness"} == {"unknown"}
    assert found.verdicts[0].clauses[0].kind == "nothing-to-rank"


@pytest.mark.slow
@pytest.mark.parametrize("texts", [100, 200, 400, 800])
def test_more_texts_never_lose_right_answers(texts: int) -> None:
    """The truth table for other words than the quick part: right in at least as many cases as asked."""
    right, above, cases = 0, 0, 0
    for rule in RULES:
        for seed in (11, 12, 13):
            found = grades(report(rule, texts, seed))
            right += (found["oracle"], found["anti-oracle"]) == ("strong", "misleading")
            above += sum(found[name] in ABOVE_RANDOM for name in UNINFORMATIVE)
            cases += 1
    print(f"{texts} texts: right {right} of {cases}, above random {above} of {3 * cases}")
    assert right == cases
    assert above <= 3 * cases / 20
