"""`shapley-sampling` and `owen`: all orders by brute force, games with known values, Captum."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import comb
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import ShapleyValues
from explained_models import MODELS, explain
from torch import Tensor

import attnx
from attnx.plugin import Example, ImportanceMethod
from attnx.testing import assert_conforms
from attnx_captum.options import OwenOptions, ShapleyOptions
from attnx_captum.output import Output, baseline_of
from attnx_captum.owen import Owen
from attnx_captum.shapley_sampling import ShapleySampling

WORDS = "abcdefgh"
QUIET: dict[str, Any] = {"progress": False}


def game(strength: dict[str, float]) -> Any:
    """A classifier whose p(1) is .05 plus the strength of every set of words that is wholly there."""

    def predict(texts: list[str]) -> Any:
        there = [set(text.split()) for text in texts]
        p = np.array([0.05 + sum(s for words, s in strength.items() if set(words) <= t) for t in there])
        return np.stack([1 - p, p], axis=1)

    return predict


def shapley(strength: dict[str, float], n: int) -> list[float]:
    """By definition, over all subsets of n words."""
    p, units = game(strength), WORDS[:n]
    value = lambda kept: p([" ".join(kept) or "nothing"])[0, 1]  # noqa: E731
    return [
        sum(
            (value((*s, unit)) - value(s)) / (n * comb(n - 1, size))
            for size in range(n)
            for s in combinations(units.replace(unit, ""), size)
        )
        for unit in units
    ]


def tree(units: str) -> Any:
    half = (len(units) + 1) // 2
    return units if len(units) == 1 else (tree(units[:half]), tree(units[half:]))


def orders_of(node: Any) -> list[str]:
    """All orders in which the words of every span stay together."""
    if isinstance(node, str):
        return [node]
    left, right = map(orders_of, node)
    return [a + b for a, b in product(left, right)] + [b + a for a, b in product(left, right)]


def mean_over_orders(strength: dict[str, float], n: int, orders: Any) -> list[float]:
    p = game(strength)
    value = lambda kept: p([" ".join(kept) or "nothing"])[0, 1]  # noqa: E731
    total = dict.fromkeys(WORDS[:n], 0.0)
    orders = list(orders)
    for order in orders:
        for at, unit in enumerate(order):
            total[unit] += (value(order[: at + 1]) - value(order[:at])) / len(orders)
    return list(total.values())


def explained(strength: dict[str, float], n: int, *methods: str) -> Any:
    return attnx.explain(game(strength), " ".join(WORDS[:n]), list(methods), target="1", **QUIET)


MIXED = {"a": 0.1, "bc": 0.2, "ad": -0.05, "bcd": 0.3, "e": 0.1, "abe": 0.1}


def test_the_brute_force_itself_is_right() -> None:
    assert shapley({"abc": 0.6}, 3) == pytest.approx([0.2, 0.2, 0.2])
    assert mean_over_orders(MIXED, 5, permutations("abcde")) == pytest.approx(shapley(MIXED, 5))
    assert mean_over_orders({"abc": 0.8}, 3, orders_of(tree("abc"))) == pytest.approx([0.2, 0.2, 0.4])


def test_two_words_share_what_they_do_together_after_two_orders() -> None:
    """An order and its reverse share interactions of two exactly, however many words there are."""
    pairs = {"a": 0.1, "bc": 0.2, "ad": -0.05, "e": 0.1, "gh": 0.2}
    found = explained(pairs, 8, "shapley-sampling:orders=2")
    np.testing.assert_allclose(found.array("shapley-sampling:orders=2"), shapley(pairs, 8), atol=1e-6)


def test_many_orders_approach_the_shapley_values() -> None:
    few, many = "shapley-sampling:orders=4", "shapley-sampling:orders=400"
    found = explained(MIXED, 5, few, many)
    exact = np.array(shapley(MIXED, 5))
    assert np.abs(found.array(many) - exact).max() < 0.01
    assert np.abs(found.array(few) - exact).max() > np.abs(found.array(many) - exact).max()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 8])
def test_owen_values_are_exact_if_there_are_as_many_orders_as_words(n: int) -> None:
    name = "owen:orders=8"
    expected = mean_over_orders(MIXED, n, orders_of(tree(WORDS[:n])))
    np.testing.assert_allclose(explained(MIXED, n, name).array(name), expected, atol=1e-6)


def test_a_span_is_judged_as_a_whole() -> None:
    found = explained({"abc": 0.8}, 3, "owen", "shapley-sampling:orders=600")
    np.testing.assert_allclose(found.array("owen"), [0.2, 0.2, 0.4], atol=1e-6)
    np.testing.assert_allclose(found.array("shapley-sampling:orders=600"), [0.8 / 3] * 3, atol=0.03)


@pytest.mark.parametrize("made", [ShapleySampling(ShapleyOptions(orders=5)), Owen(OwenOptions(orders=4))])
@pytest.mark.parametrize("make", ["bilstm", "transformer", "features"])
def test_scores_add_up_to_the_whole_effect(made: ImportanceMethod, make: str) -> None:
    model, data = MODELS[make]()
    trace, found = explain(model, data.test, made)
    output = Output(model, trace, trace.predicted, "probability")
    with torch.no_grad():
        whole = output(trace.embeddings, output.rows) - output(baseline_of(trace, "zero"), output.rows)
    torch.testing.assert_close(found.double().sum(1), whole, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("made", [ShapleySampling(ShapleyOptions(orders=400)), Owen(OwenOptions())])
def test_captum_gives_the_same_on_a_network(made: ImportanceMethod) -> None:
    """Captum's exact Shapley values; Owen's are those of the game whose players are the two halves."""
    model, _ = MODELS["bilstm"]()
    example = Example("one", ("one", "two", "three", "four"), 0)
    trace, found = explain(model, (example,), made)
    output = Output(model, trace, trace.predicted, "probability")

    def whole(x: Tensor) -> Tensor:
        return output(x, torch.zeros(len(x), dtype=torch.long))

    units = trace.batch.mask[0]
    players = torch.zeros_like(
        trace.batch.inputs, dtype=torch.long
    )  # special columns stay, so they are nobody's
    players[0, units] = torch.tensor([0, 1, 2, 3] if isinstance(made, ShapleySampling) else [0, 0, 1, 1])
    with torch.no_grad():
        exact = (
            ShapleyValues(whole)
            .attribute(
                trace.embeddings,
                baselines=baseline_of(trace, "zero"),
                feature_mask=players[..., None].expand_as(trace.embeddings).contiguous(),
            )[0, units, 0]
            .to(found)
        )
    scores = found[0, units]
    if isinstance(made, Owen):
        torch.testing.assert_close(scores.view(2, 2).sum(1), exact[::2], atol=1e-5, rtol=1e-4)
    else:
        torch.testing.assert_close(scores, exact, atol=0.1 * float(exact.abs().max()), rtol=0)


@pytest.mark.parametrize("made", [ShapleySampling(ShapleyOptions(orders=3)), Owen(OwenOptions(orders=4))])
def test_laws(made: ImportanceMethod) -> None:
    assert_conforms("importance", made)
