"""The removal test against brute force: every order of short texts, and removals done by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Batch, Corpus, Example, Importance, JointEvidence, RemovalColumn
from attnx.testing.toy import WORDS, MarkedToyModel, ToyModel
from attnx_audit.options import RuleReaderOptions, RulesOptions
from attnx_audit.rule_reader import RuleReader
from attnx_audit.rule_texts import PlantedRules
from attnx_erasure.faithfulness import Faithfulness
from attnx_erasure.options import FaithfulnessOptions
from attnx_erasure.order_search import first_round, greedy_order
from attnx_erasure.order_values import Outputs, place_in_order, random_places, values_of
from attnx_erasure.removals import Deleting, Replacing

BINS = (1.0, 5.0, 10.0, 20.0, 50.0)
RANDOM = Randomness(0)


def texts(count: int = 12, size: int = 6, seed: int = 0) -> list[Example]:
    rng = np.random.default_rng(seed)
    return [Example(f"t-{n}", tuple(rng.choice(WORDS, size).tolist()), n % 2) for n in range(count)]


def traced(model: ToyModel, examples: list[Example]) -> tuple[Batch, Tensor, Outputs]:
    batch = model.encode(examples)
    with torch.no_grad():
        logits = model.run(batch, model.embed(batch)).logits.double()
    p, target = logits.softmax(-1), logits.argmax(-1)
    return batch, target, Outputs(p.gather(1, target[:, None])[:, 0], p.mean(0)[target])


@torch.no_grad()
def test_the_search_is_close_to_the_best_of_all_orders() -> None:
    model = ToyModel()
    batch, target, outputs = traced(model, texts())
    removal = Deleting(model, batch, target)
    first = first_round(removal, batch, outputs, (0,))
    found = greedy_order(removal, batch, outputs, BINS, (0,), first)

    def reached(place: Tensor) -> Tensor:
        return values_of(place[None], removal, batch, outputs, BINS, (0,)).both.mean((1, 2))

    every = torch.stack(
        [reached(torch.tensor(order).expand(len(batch), -1)) for order in permutations(range(6))]
    )
    searched = reached(place_in_order(found, batch, RANDOM))
    chance = every.mean(0)
    share = float((searched - chance).sum() / (every.amax(0) - chance).sum())
    assert 0.97 <= share <= 1.0
    assert bool((searched <= every.amax(0) + 1e-12).all())


@torch.no_grad()
def test_values_are_those_of_texts_shortened_by_hand() -> None:
    model = ToyModel()
    examples = texts(3)
    batch, target, outputs = traced(model, examples)
    place = torch.tensor([[2, 0, 1, 5, 4, 3]] * 3)  # the second word first, then the third, the first, ...
    found = values_of(place[None], Deleting(model, batch, target), batch, outputs, (10.0, 50.0), (0,))
    for row, example in enumerate(examples):
        for number, gone in enumerate(({1}, {0, 1, 2})):
            kept = [tuple(w for i, w in enumerate(example.units) if (i in gone) == keep) for keep in (0, 1)]
            p = [float(traced_probability(model, Example("x", words, 0), int(target[row]))) for words in kept]
            own, usual = float(outputs.p[row]), float(outputs.usual[row])
            assert float(found.falls[0, row, number, 0]) == pytest.approx(own - max(p[0], min(own, usual)))
            assert float(found.losses[0, row, number, 0]) == pytest.approx(own - min(p[1], own))


def traced_probability(model: ToyModel, example: Example, target: int) -> Tensor:
    batch = model.encode([example])
    return model.run(batch, model.embed(batch)).logits.double().softmax(-1)[0, target]


@torch.no_grad()
def test_replaced_words_are_words_of_the_donors_and_the_others_stay() -> None:
    model = MarkedToyModel()
    examples, donors = texts(4), texts(3, 2, seed=9)
    batch, target, _ = traced(model, examples)
    removal = Replacing.of(model, batch, target, donors, RANDOM, 2)
    known = {WORDS.index(word) for donor in donors for word in donor.units}
    assert set(removal.drawn[batch.mask[:, None].expand(-1, 2, -1)].tolist()) <= known
    nothing = torch.zeros_like(batch.mask)
    unchanged = removal.probabilities(torch.arange(4), nothing, (0, 1))
    assert torch.allclose(unchanged[:, 0], _own(model, batch, target))
    gone = batch.mask & (batch.unit_index == 2)
    found = removal.probabilities(torch.arange(4), gone, (1,))[:, 0]
    for row, example in enumerate(examples):
        column = int(gone[row].nonzero()[0, 0])
        words = list(example.units)
        words[2] = WORDS[int(removal.drawn[row, 1, column])]
        by_hand = traced_probability(model, Example("x", tuple(words), 0), int(target[row]))
        assert float(found[row]) == pytest.approx(float(by_hand), abs=1e-6)


def _own(model: ToyModel, batch: Batch, target: Tensor) -> Tensor:
    return model.run(batch, model.embed(batch)).logits.double().softmax(-1).gather(1, target[:, None])[:, 0]


def test_random_orders_put_every_unit_early_and_late() -> None:
    batch = ToyModel().encode(texts(5, 8))
    places = torch.stack(random_places(batch, RANDOM, 4))  # [4, B, L]
    for found in places:
        assert found.sort(1).values.tolist() == [list(range(8))] * 5
    early = (places < 2).double().sum(0)  # of four orders turned by two places each
    assert early.eq(1).all()


def evidence(
    examples: list[Example], values: dict[str, Tensor], donors: tuple[Example, ...]
) -> JointEvidence:
    model = RuleReader(RuleReaderOptions())
    batch = model.encode(examples)
    trace = model.run(batch, model.embed(batch))
    width = batch.mask.shape[1]
    given = {
        name: Importance(
            name, torch.nn.functional.pad(v, (0, width - v.shape[1]))[: len(batch)], trace.predicted
        )
        for name, v in values.items()
    }
    return JointEvidence(trace, given, model, RANDOM, Corpus(batch.mask.sum(1), donors))


def rule_texts() -> tuple[list[Example], tuple[Example, ...]]:
    data = PlantedRules(RulesOptions(train=30, dev=2, test=20)).load(None)  # type: ignore[arg-type]
    return list(data.test), data.train


def column(metric: Faithfulness, values: Tensor, wanted: RemovalColumn) -> Tensor:
    (number,) = [n for n, measure in enumerate(metric.measures) if measure.column == wanted]
    return values[..., number]


@torch.no_grad()
def test_values_do_not_depend_on_the_other_examples_of_a_batch() -> None:
    examples, donors = rule_texts()
    metric = Faithfulness(FaithfulnessOptions())
    scores = torch.rand(20, 24, generator=torch.Generator().manual_seed(0))
    masked = torch.stack(
        [
            torch.where(torch.arange(24) < len(e.units), row, 0.0)
            for e, row in zip(examples, scores, strict=True)
        ]
    )
    together = metric(evidence(examples, {"a": masked}, donors))
    for row in (0, 7):
        alone = metric(evidence([examples[row]], {"a": masked[[row]][:, : len(examples[row].units)]}, donors))
        assert torch.equal(alone[0, 0].isnan(), together[0, row].isnan())
        assert torch.allclose(alone[0, 0].nan_to_num(), together[0, row].nan_to_num(), atol=1e-9)


@torch.no_grad()
def test_the_values_of_set_sizes_have_the_mean_that_is_reported() -> None:
    examples, donors = rule_texts()
    metric = Faithfulness(FaithfulnessOptions(bins=(10.0, 50.0)))
    values = metric(evidence(examples, {"a": torch.rand(20, 8)}, donors))
    for removal, order in (("delete", "explanation"), ("replace", "random"), ("delete", "search")):
        for question in ("comprehensiveness", "sufficiency"):
            whole = RemovalColumn(removal, order, question)  # type: ignore[arg-type]
            sized = [column(metric, values, replace(whole, size=size)) for size in (10.0, 50.0)]
            assert torch.allclose(torch.stack(sized).mean(0), column(metric, values, whole))
            assert order == "search" or not torch.allclose(sized[0], sized[1])  # one word can be all


@torch.no_grad()
def test_scores_that_are_not_finite_have_no_value_and_signed_ones_are_not_given_signs() -> None:
    examples, donors = rule_texts()
    metric = Faithfulness(FaithfulnessOptions())
    good = torch.rand(20, 8)
    bad = good.clone()
    bad[3, 0] = torch.nan
    values = metric(evidence(examples, {"good": good, "bad": bad, "signed": -good}, donors))
    own = RemovalColumn("delete", "explanation")
    assert column(metric, values, own)[1].isnan().nonzero().flatten().tolist() == [3]
    assert not column(metric, values, own)[0].isnan().any()
    signed = column(metric, values, RemovalColumn("delete", "signed"))
    assert signed[2].isnan().all()
    assert not signed[0].isnan().any()


@pytest.mark.parametrize("removals", [("replace",), ("delete", "delete"), ()])
def test_deletion_is_always_tested(removals: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="give delete, or delete\\+replace"):
        FaithfulnessOptions(removals=removals)  # type: ignore[arg-type]


@torch.no_grad()
def test_neighbours_of_a_long_text_are_tried_together() -> None:
    long = [Example("long", tuple(["splendid"] + ["ba"] * 199), 1)]
    model = RuleReader(RuleReaderOptions())
    batch = model.encode(long)
    trace = model.run(batch, model.embed(batch))
    p = trace.logits.double().softmax(-1)[:, 1]
    outputs = Outputs(p, torch.full_like(p, 0.5))
    removal = Replacing.of(model, batch, torch.tensor([1]), [Example("d", ("ba",) * 5, 0)], RANDOM, 1)
    first = first_round(removal, batch, outputs, (0,))
    assert first.effect[0, :5].tolist() == pytest.approx([float(p[0]) - 0.5] * 5)  # 200 words in 40 windows
    assert first.effect[0, 5:].eq(0).all()
