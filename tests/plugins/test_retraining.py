"""The retraining studies, their models and what is published beside them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.spatial.distance import jensenshannon
from text_building import build, read, sentence_data

from attnx import Finding, Model, Source, UsageError
from attnx.catalog import Catalog
from attnx.data import load_data
from attnx.evaluator import choose_device
from attnx.progress import Progress
from attnx.resolve import find_part, resolve
from attnx.results import StudyReport
from attnx.spec import Choice, RunSpec
from attnx.studies import Lab, run_study
from attnx.testing import ToyModel, check, check_component, toy_data
from attnx_retraining.adversary import Away, frozen, kl_divergence, unfrozen
from attnx_retraining.correlations import CORRELATIONS
from attnx_retraining.guided import Guided
from attnx_retraining.options import AdversaryOptions
from attnx_retraining.published import MEISTER_2, MEISTER_3, MEISTER_5, WEN_2, WEN_3
from attnx_retraining.starts import copy_of, free_attention_alone, new_model

WORDS = "sdc-text:train=160,dev=40,test=60"
SMALL = "bilstm:hidden=6,embedding=12"
KL = AdversaryOptions()
STUDIES = {
    "uniform-attention": "uniform-attention",
    "seed-variance": "seed-variance",
    "guided-mlp": "guided-mlp:model=average",
    "adversarial-model": "adversarial-model:information=true,clusters=8",
    "fixed-representation": "fixed-representation:clusters=8",
    "fixed-attention": "fixed-attention:clusters=8",
    "sparsity-sweep": "sparsity-sweep:grid=-1+0+0.5,references=gradient+loo",
    "gumbel-gain": "gumbel-gain:models=average:embedding=8+mlp:embedding=8,clusters=8",
}


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.installed()


@pytest.fixture
def _own_home(home: Path) -> None:
    """Weights that no other test has trained."""


def spec(task: str = WORDS, **fields: Any) -> RunSpec:
    usual: dict[str, Any] = {"model": SMALL, "training": {"epochs": 3, "learning_rate": 0.03}}
    return RunSpec.model_validate({"task": task, **usual, **fields})


def make_lab(catalog: Catalog, study: str, asked: RunSpec) -> Lab:
    plan = resolve(asked, catalog)
    data = load_data(plan.task.make(), Source(), asked.limit)
    part = find_part(catalog, "study", Choice.parse(study))
    return Lab(plan, catalog, data, choose_device("cpu"), Progress(), part, asked)


def carry_out(catalog: Catalog, study: str, asked: RunSpec) -> StudyReport:
    return run_study(Choice.parse(study), asked, catalog, Source(), Progress())


def value(report: StudyReport, setting: str, measure: str) -> Any:
    (found,) = [f for f in report.findings if (f.setting, f.measure) == (setting, measure)]
    return found


def weights(model: Model) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


# Every study.


@pytest.mark.parametrize("name", STUDIES)
def test_card_says_what_the_class_says(catalog: Catalog, name: str) -> None:
    assert [result.failure for result in check_component(catalog, catalog.find("study", name))] == [""]


def test_all_studies_of_the_bundle_are_tested(catalog: Catalog) -> None:
    (plugin,) = [plugin for plugin in catalog.plugins if plugin.name == "retraining"]
    assert {component.name for component in plugin.components} == STUDIES.keys()


@pytest.mark.usefixtures("_own_home")
@pytest.mark.parametrize("name", STUDIES)
def test_second_run_trains_nothing_and_finds_the_same(
    catalog: Catalog, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = spec(seeds=(0, 1), training={"epochs": 1, "learning_rate": 0.01})
    first = carry_out(catalog, STUDIES[name], asked)

    def train(*_: Any, **__: Any) -> None:
        raise AssertionError("a model is trained again")

    monkeypatch.setattr("attnx.studies.train", train)
    monkeypatch.setattr("attnx.evaluator.train", train)
    second = carry_out(catalog, STUDIES[name], asked)
    assert first.findings == second.findings
    assert all(finding.published is None for finding in first.findings)  # sdc-text is in no paper


@pytest.mark.usefixtures("_own_home")
def test_study_trained_from_nothing_finds_the_same(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = carry_out(catalog, "adversarial-model", spec())
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "another"))
    assert carry_out(catalog, "adversarial-model", spec()).findings == first.findings


def test_study_from_the_command_line(cli: Any) -> None:
    task = "sdc-2d:train=200,dev=50,test=80"
    code, out, _ = cli(
        "study", "uniform-attention", "--task", task, "--seeds", "0,1", "--train", "epochs=3", "--json"
    )
    report = json.loads(out)
    assert code == 0
    assert [f["setting"] for f in report["findings"]] == ["trained attention", "uniform attention", "gap"]
    assert [f["n"] for f in report["findings"]] == [160] * 3
    assert [len(f["seeds"]) for f in report["findings"]] == [2] * 3


@pytest.mark.parametrize(
    ("study", "more", "line"),
    [
        ("seed-variance", (), "give two or more, as --seeds 0-4"),
        ("uniform-attention", ("--projection", "uniform"), "uniform attention already"),
        ("sparsity-sweep:grid=0+1+0.5", (), "less than 1"),
        ("sparsity-sweep:grid=0+0.5", (), "three or more different values"),
        ("sparsity-sweep:grid=0+x+0.5", (), "valid number"),
        ("sparsity-sweep:references=gradients", (), "Did you mean 'gradient'?"),
        ("adversarial-model:divergence=-1", (), "greater than or equal to 0"),
        ("adversarial-model:distance=tvd", (), "'kl' or 'jsd'"),
        ("adversarial-model:lambda=1", (), "Options: divergence, distance, moves"),
        ("fixed-attention:clusters=40", (), "needs 80 test examples and there are 60: give clusters=30"),
        ("gumbel-gain:models=mlp+mlp,clusters=8", (), "a model is given twice"),
        ("gumbel-gain:models=mlq,clusters=8", (), "Did you mean 'mlp'?"),
        ("guided-mlp:model=mlp-ad", (), "Did you mean 'mlp-add'?"),
        ("guided-mlp:model=han", (), "must read examples alike"),
        ("guided-mlp", ("--task", "sdc-2d"), "needs units that are words"),
    ],
)
def test_bad_input_is_one_line(cli: Any, study: str, more: tuple[str, ...], line: str) -> None:
    options = {"--task": WORDS, "--train": "epochs=1", **dict(zip(more[::2], more[1::2], strict=True))}
    if options["--task"] == WORDS:
        options["--model"] = SMALL
    code, out, err = cli("study", study, *(word for pair in options.items() for word in pair))
    error = err.splitlines()[-1]
    assert (code, out) == (2, "")
    assert error.startswith("error: ")
    assert line in error


@pytest.mark.parametrize("study", ["fixed-representation", "fixed-attention", "gumbel-gain"])
def test_information_studies_say_that_their_metric_is_missing(
    catalog: Catalog, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = Catalog(tuple(plugin for plugin in catalog.plugins if plugin.name != "information"))
    monkeypatch.setattr("attnx.evaluator.train", None)  # nothing may be trained first
    with pytest.raises(UsageError, match="Unknown metric 'mi-kendall'"):
        carry_out(without, f"{study}:clusters=8", spec())


# Uniform attention.


def test_attention_is_worth_much_where_one_segment_decides(catalog: Catalog) -> None:
    asked = spec("sdc-2d:train=600,dev=100,test=200", model="fcam-mlp", training={"epochs": 60})
    report = carry_out(catalog, "uniform-attention", asked)
    gap = value(report, "gap", "accuracy")
    assert gap.low > 0.3
    both = [value(report, f"{kind} attention", "accuracy").mean for kind in ("trained", "uniform")]
    assert gap.mean == pytest.approx(both[0] - both[1])


def test_attention_is_worth_nothing_where_the_average_decides(catalog: Catalog) -> None:
    asked = spec("sdc-error-mode-3:test=200", model="fcam-linear-relu", training={"epochs": 150})
    gap = value(carry_out(catalog, "uniform-attention", asked), "gap", "accuracy")
    assert gap.mean == pytest.approx(0, abs=0.03)


# Seeds.


def test_seed_variance_is_the_squared_distance_of_scipy(catalog: Catalog) -> None:
    lab = make_lab(catalog, "seed-variance", spec(seeds=(0, 1, 2)))
    findings = {(f.setting, f.measure): f.values for f in lab.study.make()(lab)}
    attention = [lab.outputs(lab.model(seed)).attention.numpy() for seed in lab.seeds]
    pairs = {
        pair: np.array([jensenshannon(a, b) ** 2 for a, b in zip(*(attention[i] for i in pair), strict=True)])
        for pair in combinations(range(3), 2)
    }
    for seed in range(3):
        mine = [jsd for pair, jsd in pairs.items() if seed in pair]
        assert findings["between seeds", "jsd"][seed] == pytest.approx(np.mean(mine, axis=0), abs=1e-6)
        medians = np.mean([np.median(jsd) for jsd in mine])
        assert findings["between seeds", "median jsd"][seed] == pytest.approx([medians], abs=1e-6)
    everything = np.mean([jsd.mean() for jsd in pairs.values()])
    assert findings["between seeds", "jsd"].mean() == pytest.approx(everything, abs=1e-6)


# A model and its guide.


def test_guided_models_keep_every_law() -> None:
    check("model", Guided(build("mlp"), build("bilstm"), toy_data()), toy_data())
    check("model", Guided(ToyModel(), ToyModel(), toy_data()), toy_data())
    han = [build("han", sentence_data(), words=kind) for kind in ("gru", "conv")]
    check("model", Guided(*han, sentence_data()), sentence_data())


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
    trained = lab.train(Guided(model, guide, lab.data), 0, "a test", keep="last", beside=(guide,))
    assert same(weights(guide), before)
    assert not same(weights(model), start)
    assert torch.equal(lab.outputs(trained).attention, lab.outputs(guide).attention)
    assert sum(p.numel() for p in trained.parameters()) == sum(p.numel() for p in model.parameters())


def test_another_guide_is_not_answered_from_the_weights_of_the_first(catalog: Catalog) -> None:
    lab = make_lab(catalog, "fixed-attention", spec())
    guides = [lab.model(0), lab.model(1)]
    first, second = (
        lab.train(Guided(lab.untrained(0), guide, lab.data), 0, "one name", keep="last", beside=(guide,))
        for guide in guides
    )
    assert not same(weights(first), weights(second))


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
    with pytest.raises(UsageError, match="must read examples alike, but these differ in"):
        Guided(build("mlp", rare), build("bilstm", rare, **other), rare)


def test_guidance_by_what_decides_helps_a_model_that_reads_each_unit_alone(catalog: Catalog) -> None:
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
        lab.outputs(lab.train(Guided(new_model(lab, 0), guide, lab.data), 0, "guided", beside=(guide,)))
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
    loss = Away(base, AdversaryOptions(divergence=0.3, distance=distance))(model, batch)  # type: ignore[arg-type]
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


@pytest.mark.parametrize("distance", ["kl", "jsd"])
def test_loss_has_a_finite_gradient_under_sparse_attention(catalog: Catalog, distance: str) -> None:
    lab = make_lab(catalog, "adversarial-model", spec(projection="sparsegen:lam=0.9"))
    base, model = lab.untrained(0), new_model(lab, 0)
    with torch.no_grad():
        for m in (base, model):
            next(iter(m.attention_parameters())).mul_(100)
    batch = base.encode(lab.data.train[:8])
    assert (model.run(batch, model.embed(batch)).attention[batch.mask] == 0).any()
    Away(base, AdversaryOptions(distance=distance))(model, batch).backward()  # type: ignore[arg-type]
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_frozen_adversary_changes_its_attention_alone(catalog: Catalog) -> None:
    lab = make_lab(catalog, "adversarial-model", spec())
    base = lab.model(0)
    before = weights(base)
    adversary = frozen(lab, base, 0, AdversaryOptions(divergence=1.0), moves="attention")
    changed = {name for name, tensor in weights(adversary).items() if not torch.equal(tensor, before[name])}
    assert changed == {name for name in before if name.startswith("scorer.")}
    assert same(weights(base), before)
    everything = frozen(lab, base, 0, AdversaryOptions(divergence=1.0), moves="all")
    assert not torch.equal(everything.state_dict()["decoder.weight"], before["decoder.weight"])


def test_frozen_adversary_starts_beside_the_model_where_the_loss_has_a_slope(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lab, "train", lambda _, model, *__, **___: model)
    lab = make_lab(catalog, "adversarial-model", spec())
    base = lab.model(0)
    batch = base.encode(lab.data.train[:16])
    slopes = []
    for model in (copy_of(lab, base, 0, new_attention=False), frozen(lab, base, 0, KL, moves="attention")):
        loss = Away(base, AdversaryOptions(divergence=100.0))(model, batch)
        found = torch.autograd.grad(loss, list(model.attention_parameters()))
        slopes.append(max(slope.abs().max().item() for slope in found))
        close = [
            torch.allclose(a, b, atol=0.1) for a, b in zip(model.parameters(), base.parameters(), strict=True)
        ]
        assert all(close)
    assert slopes[1] > 100 * slopes[0]


def test_adversary_goes_further_from_the_model_the_more_that_is_worth(catalog: Catalog) -> None:
    asked = spec(model="average:embedding=16,hidden=16", training={"epochs": 12, "learning_rate": 0.01})
    reports = {
        worth: carry_out(catalog, f"adversarial-model:divergence={worth}", asked) for worth in (0, 0.01, 10)
    }
    for setting in ("frozen", "unfrozen"):
        jsd = [value(report, setting, "jsd").mean for report in reports.values()]
        assert jsd[0] < jsd[2]
        assert all(0 <= x <= math.log(2) for x in jsd)
    assert value(reports[0], "unfrozen", "tvd").mean < 0.1
    assert value(reports[0.01], "unfrozen", "tvd").mean < 0.1
    for report in reports.values():
        lost = value(report, "base", "accuracy").mean - value(report, "unfrozen", "accuracy").mean
        assert value(report, "unfrozen", "accuracy lost").mean == pytest.approx(lost)


def test_guided_mlp_finds_the_adversary_of_the_adversarial_study(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = make_lab(catalog, "adversarial-model", spec())
    base = lab.model(0)
    trained = unfrozen(lab, base, 0, AdversaryOptions())
    monkeypatch.setattr("attnx.studies.train", None)
    mlp = make_lab(catalog, "guided-mlp", spec())
    assert same(
        weights(unfrozen(mlp.within("adversarial-model"), base, 0, AdversaryOptions())), weights(trained)
    )


# Fixed representation and fixed attention.


def test_fixed_representation_trains_new_attention_alone(catalog: Catalog) -> None:
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


@pytest.mark.parametrize("setting", ["fixed representation", "fixed attention"])
def test_tau_lost_is_the_difference_of_what_the_metric_says(catalog: Catalog, setting: str) -> None:
    study = f"{setting.replace(' ', '-')}:clusters=8"
    report = carry_out(catalog, study, spec(seeds=(0, 1)))
    for name, lost in (("tau", "tau lost"), ("tau corrected", "tau corrected lost")):
        normal, special = (value(report, s, name).seeds for s in ("normal", setting))
        assert value(report, setting, lost).seeds == pytest.approx(np.subtract(normal, special))
    lab = make_lab(catalog, study, spec(seeds=(0, 1)))
    (measured,) = lab.measure(lab.model(0), 0, "mi-kendall:clusters=8")
    assert value(report, "normal", "tau").seeds[0] == measured.values[0, 0]


def test_fixed_attention_may_be_that_of_an_untrained_model(catalog: Catalog) -> None:
    taus = [
        value(
            carry_out(catalog, f"fixed-attention:clusters=8,attention={kind}", spec()),
            "fixed attention",
            "tau",
        )
        for kind in ("trained", "untrained")
    ]
    assert taus[0].mean != taus[1].mean


# Sparsity and noise.


@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlations_are_those_of_scipy(name: str) -> None:
    scipy = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}[name]
    rng = np.random.default_rng(0)
    for n in (3, 6, 9):
        for _ in range(20):
            x, y = rng.normal(size=n), rng.integers(0, 4, size=n).astype(float)
            if len(set(y)) > 1:
                assert CORRELATIONS[name](x, y) == pytest.approx(scipy(x, y).statistic)
    x = np.arange(4.0)
    assert math.isnan(CORRELATIONS[name](x, np.ones(4)))
    assert math.isnan(CORRELATIONS[name](x, np.array([1.0, 2.0, np.nan, 0.0])))


@pytest.mark.parametrize("name", CORRELATIONS)
def test_sweep_correlates_sparsity_with_the_means_it_reports(catalog: Catalog, name: str) -> None:
    grid = (-3.0, 0.0, 0.5, 0.9)
    study = f"sparsity-sweep:grid={'+'.join(map(str, grid))},correlation={name}"
    report = carry_out(catalog, study, spec(seeds=(0, 1)))
    scipy = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}[name]
    for measure in ("entropy of gradient", "kendall with gradient"):
        course = [value(report, f"λ = {lam:g}", measure).seeds for lam in grid]
        found = value(report, f"{name} with λ", measure).seeds
        for seed in range(2):
            assert found[seed] == pytest.approx(scipy(grid, [means[seed] for means in course]).statistic)


def test_gain_is_counted_where_tau_does_not_fall(catalog: Catalog) -> None:
    models = ("average:embedding=8", "mlp:embedding=8", "bilstm:hidden=4")
    report = carry_out(catalog, f"gumbel-gain:models={'+'.join(models)},clusters=8", spec(seeds=(0, 1)))
    gains = np.array([value(report, name, "gain").seeds for name in models])  # [models, S]
    for name, gain in zip(models, gains, strict=True):
        taus = (value(report, name, f"tau with {p}").seeds for p in ("gumbel-softmax", "softmax"))
        assert gain == pytest.approx(np.subtract(*taus))
    share = value(report, "all settings", "share that gains")
    assert share.seeds == pytest.approx((gains >= 0).mean(0))
    assert share.n == 6


# What is published.


def published(catalog: Catalog, table: Any, *row: str, task: str = "sst", **fields: Any) -> float | None:
    asked = RunSpec.model_validate({"task": task, "model": "bilstm-add", **fields})
    part = find_part(catalog, "study", Choice.parse("adversarial-model"))
    lab = Lab(resolve(asked, catalog), catalog, toy_data(), torch.device("cpu"), Progress(), part, asked)
    found: Finding = table.beside(Finding("setting", "measure", "none", np.zeros((1, 1))), lab, *row)
    assert (found.published is None) == (found.source == "")
    return found.published


def test_published_values_stand_beside_the_same_task_and_model(catalog: Catalog) -> None:
    assert published(catalog, MEISTER_5, "frozen", "accuracy") == 0.76
    assert published(catalog, MEISTER_5, "unfrozen", "jsd", task="imdb", model="transformer-dot") == 0.64
    assert published(catalog, MEISTER_3, task="20news") == 0.91
    assert published(catalog, MEISTER_2) == -0.866
    assert published(catalog, MEISTER_2, projection="sparsemax") == -0.866  # the sweep sets its own
    assert published(catalog, WEN_2, "fixed attention", task="20news") == 1.32
    assert published(catalog, WEN_2, "fixed representation") == -0.02
    assert published(catalog, WEN_3, "unfrozen", "tvd") == 0.036
    assert published(catalog, MEISTER_2, task="sst:files=jw") == -0.866


@pytest.mark.parametrize(
    "other",
    [
        {"task": "rotten-tomatoes"},
        {"task": "20news:groups=space+med"},
        {"model": "bilstm-dot"},
        {"model": "cnn-add"},
        {"projection": "sparsemax"},
    ],
)
def test_nothing_is_published_beside_another_task_model_or_projection(
    catalog: Catalog, other: dict[str, str]
) -> None:
    assert published(catalog, WEN_2, "fixed attention", **other) is None
    assert published(catalog, MEISTER_3, **other) is None
