"""The retraining studies as a user runs them."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from retraining_labs import SHORT, SMALL, WORDS, as_array, carry_out, make_lab, spec, value
from scipy import stats
from scipy.spatial.distance import jensenshannon
from trainers import never

from attnx.host.catalog import Catalog
from attnx.plugin import UsageError
from attnx_retraining.correlations import CORRELATIONS
from attnx_retraining.seed_variance import SeedVariance

STUDIES = {
    "uniform-attention": "uniform-attention",
    "seed-variance": "seed-variance",
    "guided-mlp": "guided-mlp:model=average",
    "adversarial-model": "adversarial-model:divergences=0.01+1,information=true,clusters=4",
    "fixed-representation": "fixed-representation:clusters=4",
    "fixed-attention": "fixed-attention:clusters=4",
    "sparsity-sweep": "sparsity-sweep:grid=-1+0+0.5,references=gradient+loo",
    "f-fidelity": "f-fidelity:explanations=attention,shares=20,draws=2",
    "recursive-roar": "recursive-roar:explanations=attention,steps=1",
    "gumbel-gain": "gumbel-gain:models=average:embedding=8+mlp:embedding=8,clusters=4",
}


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.installed()


@pytest.fixture
def _own_home(home: Path) -> None:
    """Weights that no other test has trained."""


# Every study.


def test_all_studies_of_the_bundle_are_tested(catalog: Catalog) -> None:
    (plugin,) = [plugin for plugin in catalog.plugins if plugin.name == "retraining"]
    assert {component.name for component in plugin.components} == STUDIES.keys()


@pytest.mark.usefixtures("_own_home")
@pytest.mark.parametrize("name", STUDIES)
def test_second_run_trains_nothing_and_finds_the_same(catalog: Catalog, name: str) -> None:
    seeds = (0, 1) if name == "seed-variance" else (0,)
    asked = spec(SHORT, seeds=seeds, training={"epochs": 1, "learning_rate": 0.01})
    first = carry_out(catalog, STUDIES[name], asked)
    second = carry_out(catalog, STUDIES[name], asked, trainer=never)
    assert first.findings == second.findings
    assert all(finding.published is None for finding in first.findings)  # sdc-text is in no paper


@pytest.mark.usefixtures("_own_home")
def test_study_trained_from_nothing_finds_the_same(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = carry_out(catalog, "adversarial-model:divergences=0.1", spec(SHORT))
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "another"))
    assert carry_out(catalog, "adversarial-model:divergences=0.1", spec(SHORT)).findings == first.findings


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
        ("seed-variance", (), "give at least two, e.g. --seeds 0-4"),
        ("uniform-attention", ("--projection", "uniform"), "already has uniform attention"),
        ("sparsity-sweep:grid=0+1+0.5", (), "less than 1"),
        ("sparsity-sweep:grid=0+0.5", (), "three or more different values"),
        ("sparsity-sweep:grid=0+x+0.5", (), "valid number"),
        ("sparsity-sweep:references=gradients", (), "Did you mean 'gradient'?"),
        ("adversarial-model:divergences=0", (), "greater than 0"),
        ("adversarial-model:divergences=1+1", (), "a value of λ is given twice"),
        ("adversarial-model:distance=tvd", (), "'kl' or 'jsd'"),
        ("adversarial-model:lambda=1", (), "Available: distance, divergences, moves"),
        ("fixed-attention:clusters=40", (), "needs 80 test examples and there are 60: give clusters=30"),
        ("gumbel-gain:models=mlp+mlp,clusters=8", (), "a model is given twice"),
        ("gumbel-gain:models=mlq,clusters=8", (), "Did you mean 'mlp'?"),
        ("guided-mlp:model=mlp-ad", (), "Did you mean 'mlp-add'?"),
        ("guided-mlp:model=han", (), "must encode examples alike"),
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
def test_information_studies_say_that_their_metric_is_missing(catalog: Catalog, study: str) -> None:
    without = Catalog(tuple(plugin for plugin in catalog.plugins if plugin.name != "information"))
    with pytest.raises(UsageError, match="Unknown metric 'mi-kendall'"):
        carry_out(without, f"{study}:clusters=8", spec(), trainer=never)


# Uniform attention.


def test_attention_gains_accuracy_if_one_segment_decides(catalog: Catalog) -> None:
    asked = spec("sdc-2d:train=600,dev=100,test=200", model="fcam-mlp", training={"epochs": 60})
    report = carry_out(catalog, "uniform-attention", asked)
    gap = value(report, "gap", "accuracy")
    assert gap.low > 0.3
    both = [value(report, f"{kind} attention", "accuracy").mean for kind in ("trained", "uniform")]
    assert gap.mean == pytest.approx(both[0] - both[1])


def test_attention_gains_nothing_if_the_average_decides(catalog: Catalog) -> None:
    asked = spec(
        "sdc-error-mode-3:test=200", model="fcam-linear-relu", training={"epochs": 250, "learning_rate": 0.03}
    )
    gap = value(carry_out(catalog, "uniform-attention", asked), "gap", "accuracy")
    assert gap.mean == pytest.approx(0, abs=0.03)


# Seeds.


def test_seed_variance_is_the_squared_distance_of_scipy(catalog: Catalog) -> None:
    lab = make_lab(catalog, "seed-variance", spec(seeds=(0, 1, 2)))
    findings = {(f.setting, f.measure): f.values for f in SeedVariance()(lab)}
    outputs = [lab.outputs(lab.model(seed)) for seed in lab.seeds]
    attention = [[a.numpy() for a in output.attention] for output in outputs]
    pairs = np.array(
        [
            [jensenshannon(a, b) ** 2 for a, b in zip(attention[s], attention[t], strict=True)]
            for s, t in combinations(range(3), 2)
        ]
    )  # [3, N]
    found = findings["between seeds", "jsd"], findings["between seeds", "median jsd"]
    assert found[0] == pytest.approx(pairs.mean(0)[None], abs=1e-6)
    assert found[1] == pytest.approx(np.median(pairs, axis=0)[None], abs=1e-6)
    for own, row in zip(attention, findings["from uniform", "jsd"], strict=True):
        expected = [jensenshannon(a, np.full(len(a), 1 / len(a))) ** 2 for a in own]
        assert row == pytest.approx(np.array(expected), abs=1e-6)


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
    report = carry_out(catalog, study, spec(SHORT, seeds=(0, 1)))
    scipy = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}[name]
    for measure in ("entropy of gradient", "kendall with gradient"):
        course = [value(report, f"λ = {lam:g}", measure).seeds for lam in grid]
        found = value(report, f"{name} with λ", measure).seeds
        for seed in range(2):
            assert found[seed] == pytest.approx(scipy(grid, [means[seed] for means in course]).statistic)


def test_gain_is_counted_where_tau_does_not_fall(catalog: Catalog) -> None:
    models = ("average:embedding=8", "mlp:embedding=8", "bilstm:hidden=4")
    report = carry_out(
        catalog, f"gumbel-gain:models={'+'.join(models)},clusters=8", spec(SHORT, seeds=(0, 1))
    )
    gains = [as_array(value(report, name, "gain")) for name in models]
    for name, gain in zip(models, gains, strict=True):
        after, before = (value(report, name, f"tau with {p}") for p in ("gumbel-softmax", "softmax"))
        assert gain == pytest.approx(as_array(after) - as_array(before), nan_ok=True)
    share = value(report, "all settings", "share that gains")
    defined = ~np.isnan(gains)  # [models, S]
    assert share.n == defined.sum() > 2
    assert share.seeds == pytest.approx(np.greater_equal(gains, 0).sum(0) / defined.sum(0))


# Fixed representation and fixed attention.


@pytest.mark.parametrize("setting", ["fixed representation", "fixed attention"])
def test_tau_lost_is_the_difference_of_what_the_metric_says(catalog: Catalog, setting: str) -> None:
    study = f"{setting.replace(' ', '-')}:clusters=8"
    report = carry_out(catalog, study, spec(SHORT, seeds=(0, 1)))
    for name, lost in (("tau", "tau lost"), ("tau corrected", "tau corrected lost")):
        normal, special = (value(report, s, name).seeds for s in ("normal", setting))
        assert value(report, setting, lost).seeds == pytest.approx(np.subtract(normal, special))
    lab = make_lab(catalog, study, spec(SHORT, seeds=(0, 1)))
    (measured,) = lab.measure(lab.model(0), 0, ["mi-kendall:clusters=8"])
    assert value(report, "normal", "tau").seeds[0] == measured.values[0, 0]


def test_fixed_attention_may_be_that_of_an_untrained_model(catalog: Catalog) -> None:
    taus = [
        value(
            carry_out(catalog, f"fixed-attention:clusters=8,attention={kind}", spec(SHORT)),
            "fixed attention",
            "tau",
        )
        for kind in ("trained", "untrained")
    ]
    assert taus[0].mean != taus[1].mean
