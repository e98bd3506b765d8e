"""Guided models, adversaries, and models of which a part is trained again."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from retraining_labs import SMALL, WORDS, carry_out, make_lab, same, spec, value, weights
from scipy import stats
from scipy.spatial.distance import jensenshannon
from text_building import build, read, sentence_data
from trainers import never

from attnx.host.catalog import Catalog
from attnx.plugin import UsageError
from attnx.run.lab import Lab
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx_retraining.adversary import Away, frozen, kl_divergence, unfrozen
from attnx_retraining.guided import Guided
from attnx_retraining.options import AdversarialModelOptions, AdversaryOptions, GuidedMlpOptions
from attnx_retraining.starts import copy_of, free_attention_alone, new_model


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.installed()


# A model and its guide.


def test_guided_models_pass_the_conformance_tests() -> None:
    assert_conforms("model", Guided(build("mlp"), build("bilstm"), toy_data()), toy_data())
    assert_conforms("model", Guided(ToyModel(), ToyModel(), toy_data()), toy_data())
    model, guide = (build("han", sentence_data(), words=kind) for kind in ("gru", "conv"))
    assert_conforms("model", Guided(model, guide, sentence_data()), sentence_data())


def test_guided_model_attends_as_its_guide_and_decides_for_itself() -> None:
    model, guide = build("mlp"), build("bilstm", hidden=5)
    with torch.no_grad():
        guide.scorer.v.weight.mul_(50)  # far from uniform
    guided = read(Guided(model, guide, toy_data()), toy_data().test)
    alone, theirs = read(model, toy_data().test), read(guide, toy_data().test)
    assert torch.equal(guided.attention, theirs.attention)
    assert torch.equal(guided.scores, theirs.scores)
    assert torch.equal(guided.hidden, alone.hidden)
    assert torch.equal(guided.logits, model.reattend(alone, theirs.attention))
    assert not torch.allclose(guided.logits, alone.logits, atol=1e-3)


def test_guide_stays_as_it_is_while_the_guided_model_learns(catalog: Catalog) -> None:
    lab = make_lab(catalog, "fixed-attention", spec())
    guide, model = lab.model(0), new_model(lab, 0)
    before, start = weights(guide), weights(model)
    trained = lab.train(Guided(model, guide, lab.data), 0, "a test", keep="last", depends_on=(guide,))
    assert same(weights(guide), before)
    assert not same(weights(model), start)
    both = zip(lab.outputs(trained).attention, lab.outputs(guide).attention, strict=True)
    assert all(torch.equal(mine, theirs) for mine, theirs in both)
    assert sum(p.numel() for p in trained.parameters()) == sum(p.numel() for p in model.parameters())


def test_another_guide_is_not_answered_from_the_weights_of_the_first(catalog: Catalog) -> None:
    lab = make_lab(catalog, "fixed-attention", spec())
    guides = [lab.model(0), lab.model(1)]
    first, second = (
        lab.train(Guided(lab.untrained(0), guide, lab.data), 0, "one name", keep="last", depends_on=(guide,))
        for guide in guides
    )
    assert not same(weights(first), weights(second))


def test_the_old_name_of_depends_on_names_the_same_weights_with_a_warning(catalog: Catalog) -> None:
    lab = make_lab(catalog, "fixed-attention", spec())
    first, second = lab.model(0), lab.model(1)

    def train(guide: Any, **on: Any) -> dict[str, torch.Tensor]:
        guided = Guided(lab.untrained(0), guide, lab.data)
        return weights(lab.train(guided, 0, "an old name", keep="last", **on))

    new, other = train(first, depends_on=(first,)), train(second, depends_on=(second,))
    with pytest.warns(DeprecationWarning, match=r"`beside` of Lab\.train is now `depends_on`") as seen:
        old = train(first, beside=(first,))
    assert seen[0].filename == __file__
    assert same(old, new)
    assert not same(old, other)


def test_guided_mlp_takes_the_vocabulary_of_the_model(catalog: Catalog) -> None:
    asked = spec(model=f"{SMALL},min_count=3,boundaries=false", training={"epochs": 1})
    report = carry_out(catalog, "guided-mlp", asked)
    assert [f.setting for f in report.findings] == [
        "the model itself",
        "guide: uniform",
        "guide: trained",
        "guide: adversarial",
        "guide: own",
    ]


@pytest.mark.parametrize("other", [{"min_count": 2}, {"boundaries": False}])
def test_guide_with_other_numbers_for_words_is_refused(other: dict[str, Any]) -> None:
    data = toy_data()
    rare = replace(data, train=data.train[:2])  # some words occur once
    with pytest.raises(UsageError, match="must encode examples alike, but these differ in"):
        Guided(build("mlp", rare), build("bilstm", rare, **other), rare)


def test_guidance_by_deciding_units_helps_a_model_that_reads_units_separately(catalog: Catalog) -> None:
    asked = spec("sdc-2d:train=300,dev=100,test=300", model="fcam-mlp:focus=linear", training={"epochs": 40})
    lab = make_lab(catalog, "guided-mlp:model=fcam-mlp", asked)

    class Oracle(ToyModel):
        """Attends to the segment that decides."""

        def encode(self, examples: Any) -> Any:
            return inner.encode(examples)

        def embed(self, batch: Any) -> Any:
            return inner.embed(batch)

        def run(self, batch: Any, embeddings: Any, *, attention: Any = None) -> Any:
            return inner.run(batch, embeddings, attention=batch.rationale)

    inner = lab.untrained(0)
    accuracy = [
        lab.outputs(lab.train(Guided(new_model(lab, 0), guide, lab.data), 0, "guided", depends_on=(guide,)))
        .correct.mean()
        .item()
        for guide in (Oracle(), lab.untrained(0, lab.variant(projection="uniform")))
    ]
    assert accuracy[0] > 0.95
    assert accuracy[1] < 0.7


# Adversaries.


def test_kl_is_that_of_scipy_and_has_a_gradient_everywhere() -> None:
    p = torch.tensor([[0.5, 0.3, 0.2, 0.0], [0.0, 1.0, 0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    q = torch.tensor([[0.1, 0.2, 0.7, 0.0], [0.25, 0.25, 0.25, 0.25]], dtype=torch.float64)
    found = kl_divergence(p, q)
    assert found.tolist() == pytest.approx(stats.entropy(p.detach(), q, axis=1))
    found.sum().backward()
    assert p.grad is not None
    assert p.grad.isfinite().all()


@pytest.mark.parametrize("distance", ["kl", "jsd"])
def test_loss_of_an_adversary_is_its_formula(distance: str) -> None:
    base, model = ToyModel(), ToyModel()
    with torch.no_grad():
        model.scorer.copy_(torch.tensor([-0.5, 0.3]))
    batch = base.encode(toy_data().test)
    loss = Away(base, distance, 0.3)(model, batch)  # type: ignore[arg-type]
    expected = []
    for example in toy_data().test:
        a, b = (read(m, [example]) for m in (model, base))
        (pa, pb), (aa, ab) = (
            [t[0].detach().numpy() for t in pair]
            for pair in ((a.probabilities, b.probabilities), (a.attention, b.attention))
        )
        away = stats.entropy(aa, ab) if distance == "kl" else jensenshannon(aa, ab) ** 2
        expected.append(np.abs(pa - pb).sum() / 2 - 0.3 * away)
    assert loss.item() == pytest.approx(np.mean(expected), abs=1e-6)
    loss.backward()
    assert all(p.grad is None for p in base.parameters())


def test_the_base_reads_every_example_once_in_whatever_batches_it_comes(catalog: Catalog) -> None:
    lab = make_lab(catalog, "adversarial-model", spec())
    base, model = lab.untrained(0), lab.untrained(1)
    first, second = lab.data.train[:6], lab.data.train[3:9]
    loss = Away(base, "kl", 0.3)
    loss(model, base.encode(first))
    loss(model, base.encode(second))
    runs: list[int] = []
    monkey = base.run
    base.run = lambda batch, *given: runs.append(len(batch)) or monkey(batch, *given)  # type: ignore
    mixed = base.encode((*second[::-1], *first))  # other company, other padding
    known = loss(model, mixed)
    assert runs == []
    assert known.item() == pytest.approx(Away(base, "kl", 0.3)(model, mixed).item(), abs=1e-6)
    assert runs == [12]


@pytest.mark.parametrize("distance", ["kl", "jsd"])
def test_loss_has_a_finite_gradient_under_sparse_attention(catalog: Catalog, distance: str) -> None:
    lab = make_lab(catalog, "adversarial-model", spec(projection="sparsegen:lam=0.9"))
    base, model = lab.untrained(0), new_model(lab, 0)
    with torch.no_grad():
        for m in (base, model):
            next(iter(m.attention_parameters())).mul_(100)
    batch = base.encode(lab.data.train[:8])
    assert (model.run(batch, model.embed(batch)).attention[batch.mask] == 0).any()
    Away(base, distance, 1.0)(model, batch).backward()  # type: ignore[arg-type]
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_frozen_adversary_changes_only_its_attention(catalog: Catalog) -> None:
    lab = make_lab(catalog, "adversarial-model", spec())
    base = lab.model(0)
    before = weights(base)
    adversary = frozen(lab, base, 0, AdversarialModelOptions(), 1.0)
    changed = {name for name, tensor in weights(adversary).items() if not torch.equal(tensor, before[name])}
    assert changed == {name for name in before if name.startswith("scorer.")}
    assert same(weights(base), before)
    everything = frozen(lab, base, 0, AdversarialModelOptions(moves="all"), 1.0)
    assert not torch.equal(everything.state_dict()["decoder.weight"], before["decoder.weight"])


def test_frozen_adversary_starts_near_the_model_where_the_loss_has_a_gradient(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lab, "train", lambda _, model, *__, **___: model)
    lab = make_lab(catalog, "adversarial-model", spec())
    base: Any = lab.model(0)
    copy: Any = copy_of(lab, base, 0, new_attention=False)
    adversary: Any = frozen(lab, base, 0, AdversarialModelOptions(), 1.0)
    near = zip(adversary.parameters(), base.parameters(), strict=True)
    assert all(torch.allclose(a, b, rtol=0.1, atol=0.1) for a, b in near)
    loss = Away(base.double(), "kl", 1.0)  # in double precision, so that rounding is no slope
    batch = base.encode(lab.data.train[:16])
    slopes = [
        max(
            slope.abs().max().item()
            for slope in torch.autograd.grad(loss(model, batch), list(model.attention_parameters()))
        )
        for model in (copy.double(), adversary.double())
    ]
    assert slopes[0] < 1e-12
    assert slopes[1] > 1e-6


def test_adversary_goes_further_from_the_model_the_more_that_is_worth(catalog: Catalog) -> None:
    asked = spec(model="average:embedding=16,hidden=16", training={"epochs": 12, "learning_rate": 0.01})
    report = carry_out(catalog, "adversarial-model:divergences=0.0001+0.01+10", asked)
    for kind in ("frozen", "unfrozen"):
        jsd = [value(report, f"{kind}, λ = {worth}", "jsd").mean for worth in ("0.0001", "0.01", "10")]
        assert jsd[0] < jsd[2]
        assert all(0 <= x <= math.log(2) for x in jsd)
    assert value(report, "unfrozen, λ = 0.0001", "tvd").mean < 0.1
    assert value(report, "unfrozen, λ = 0.01", "tvd").mean < 0.1
    for worth in ("0.0001", "0.01", "10"):
        name = f"unfrozen, λ = {worth}"
        lost = value(report, "base", "accuracy").mean - value(report, name, "accuracy").mean
        assert value(report, name, "accuracy lost").mean == pytest.approx(lost)


def test_no_single_divergence_hides_an_adversary(catalog: Catalog) -> None:
    """Attention of a recurrent model can move at no cost; too small a λ leaves it where it was."""
    asked = spec(training={"epochs": 12, "learning_rate": 0.02})
    report = carry_out(catalog, "adversarial-model", asked)
    swept = [f.setting for f in report.findings if f.measure == "jsd"]
    assert swept[:4] == [f"frozen, λ = {worth}" for worth in ("0.001", "0.01", "0.1", "1")]
    (free,) = [name for name in swept if name.startswith("unfrozen, at no cost")]
    far, near = (value(report, name, "jsd").mean for name in (free, "unfrozen, λ = 0.001"))
    assert far > max(0.3, near)
    assert value(report, free, "accuracy lost").mean < 0.05


def test_guided_mlp_finds_the_adversary_of_the_adversarial_study(catalog: Catalog) -> None:
    lab = make_lab(catalog, "adversarial-model", spec())
    base = lab.model(0)
    trained = unfrozen(lab, base, 0, AdversaryOptions(), 0.01)
    mlp = make_lab(catalog, "guided-mlp", spec(), trainer=never)
    theirs = unfrozen(mlp.within("adversarial-model"), base, 0, GuidedMlpOptions(), 0.01)
    assert same(weights(theirs), weights(trained))


# Fixed representation and fixed attention.


def test_fixed_representation_trains_only_new_attention(catalog: Catalog) -> None:
    lab = make_lab(catalog, "fixed-representation", spec())
    trained = lab.model(0)
    model = copy_of(lab, trained, 0, new_attention=True)
    start = weights(model)
    free_attention_alone(lab, model)
    lab.train(model, 0, "a test", keep="last")
    for name, tensor in weights(model).items():
        if name.startswith("scorer."):
            assert not torch.equal(start[name], trained.state_dict()[name])
            assert not torch.equal(tensor, start[name])
        else:
            assert torch.equal(tensor, trained.state_dict()[name])
    examples = lab.data.test[:4]
    assert torch.equal(read(model, examples).hidden, read(trained, examples).hidden)


@pytest.mark.parametrize(
    ("task", "model", "projection", "line"),
    [
        (WORDS, SMALL, "uniform", "has no attention that could be trained"),
        (
            "sdc-error-mode-1:test=20",
            "fcam-linear:focus=oracle",
            None,
            "has no attention that could be trained",
        ),
        (WORDS, "fcam-words:layer=1", None, "for fcam choose layer=0"),
    ],
)
def test_model_without_attention_of_its_own_is_refused(
    catalog: Catalog, task: str, model: str, projection: str | None, line: str
) -> None:
    lab = make_lab(catalog, "fixed-representation", spec(task, model=model, projection=projection))
    with pytest.raises(UsageError, match=line):
        free_attention_alone(lab, lab.untrained(0))


@pytest.mark.parametrize("projection", ["softmax", "hard", "sparsemax"])
def test_attention_of_every_trained_kind_can_be_freed(catalog: Catalog, projection: str) -> None:
    lab = make_lab(catalog, "fixed-representation", spec(projection=projection))
    model = lab.untrained(0)
    free_attention_alone(lab, model)
    free = {id(parameter) for parameter in model.attention_parameters()}
    assert all(parameter.requires_grad == (id(parameter) in free) for parameter in model.parameters())
    assert not model.training


def test_a_guided_model_takes_options_of_its_own(catalog: Catalog) -> None:
    asked = spec(model=SMALL, training={"epochs": 1})
    report = carry_out(catalog, "guided-mlp:model=mlp:embedding=8", asked)
    assert {finding.setting for finding in report.findings} >= {"guide: trained", "guide: own"}
