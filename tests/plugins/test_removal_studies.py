"""F-Fidelity and recursive ROAR: closed forms, and runs on tasks of a second."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from retraining_labs import as_array, carry_out, make_lab, spec, value
from scipy.integrate import trapezoid
from trainers import never

from attnx.host.catalog import Catalog
from attnx.plugin import Example, UsageError
from attnx_retraining.f_fidelity import kept_places
from attnx_retraining.recursive_roar import _shorter, racu
from attnx_retraining.removal_options import FFidelityOptions, RecursiveRoarOptions

TASK = "sdc-text:segments=8,train=240,dev=30,test=60"
MODEL = "mlp:embedding=12"
TRAINED = {"epochs": 6, "learning_rate": 0.05}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.installed()


@pytest.mark.parametrize(("share", "top", "others"), [(20, 0.5, 0.125), (50, 0.2, 0.2), (1, 0.5, 10 / 99)])
def test_units_are_removed_with_the_probability_of_their_side(
    share: float, top: float, others: float
) -> None:
    n = 10 if share != 1 else 100
    options = FFidelityOptions(shares=(share,), draws=1000)
    scores = np.arange(n, 0.0, -1)  # the first units are the top
    kept = kept_places(scores, options, np.random.default_rng(0))  # [2, K, n]
    s = max(1, n * share // 100)
    gone = 1 - kept.mean(1)  # [2, n]
    assert gone[0, :s] == pytest.approx(np.full(s, min(0.5, 0.1 * n / s)), abs=0.06)
    assert gone[0, :s].mean() == pytest.approx(top, abs=0.05)
    assert gone[0, s:].tolist() == [0] * (n - s)
    assert gone[1, :s].tolist() == [0] * s
    assert gone[1, s:].mean() == pytest.approx(others, abs=0.02)


def test_one_unit_always_stays_and_ties_are_broken_at_random() -> None:
    options = FFidelityOptions(shares=(99,), alpha=0.99, beta=0.99, draws=200)
    assert kept_places(np.zeros(2), options, np.random.default_rng(0)).any(2).all()
    assert kept_places(np.zeros(1), options, np.random.default_rng(0)).all()
    few = FFidelityOptions(shares=(10,), alpha=0.9, beta=0.5, draws=50)
    first = [kept_places(np.zeros(10), few, np.random.default_rng(n))[0].all(0).argmin() for n in range(200)]
    assert np.bincount(first, minlength=10).min() > 5


def test_racu_is_the_area_between_the_curves_as_a_share() -> None:
    random, explained = np.array([0.9, 0.8, 0.7]), np.array([0.9, 0.6, 0.5])
    expected = trapezoid(random - explained) / trapezoid(random - 0.5)
    assert racu(random, explained, 0.5) == pytest.approx(expected)
    assert racu(random, random, 0.5) == 0
    assert racu(random, np.array([0.5, 0.5, 0.5]), 0.5) == 1
    assert np.isnan(racu(np.array([0.5, 0.5]), np.array([0.5, 0.4]), 0.5))


def test_each_step_removes_a_share_of_the_original_units() -> None:
    whole = Example("x", tuple("abcdefgh"), 0, rationale=(True,) + (False,) * 7)
    scores, rng = np.array([8.0, 1, 7, 2, 6, 3, 5, 4]), np.random.default_rng(0)
    once = _shorter(whole, whole, scores, 0.3, rng)  # ⌈2.4⌉ units are gone
    assert once.units == tuple("bdfgh")
    assert once.rationale == (False,) * 5
    again = _shorter(once, whole, np.array([1.0, 2, 3, 4, 5]), 0.6, rng)  # ⌈4.8⌉
    assert again.units == tuple("bdf")
    assert _shorter(again, whole, np.array([1.0, 2, 3]), 0.99, rng).units == ("b",)


def test_a_planted_word_is_lost_at_once_to_an_explanation_that_finds_it(catalog: Catalog, home: Path) -> None:
    asked = spec(TASK, model=MODEL, training=TRAINED)
    study = "recursive-roar:explanations=oracle,share=12,steps=2"
    report = carry_out(catalog, study, asked)
    assert as_array(value(report, "oracle", "accuracy, 0 % removed")).mean() > 0.9
    assert as_array(value(report, "oracle", "accuracy, 12 % removed")).mean() < 0.75
    assert value(report, "oracle", "racu").mean > 0.5
    assert as_array(value(report, "random", "accuracy, 24 % removed")).mean() > 0.6
    again = carry_out(catalog, study, asked, trainer=never)  # weights are named by what they were trained on
    assert again.findings == report.findings


def test_ffidelity_prefers_the_explanation_that_finds_the_planted_word(catalog: Catalog, home: Path) -> None:
    asked = spec(TASK, model=MODEL, training=TRAINED)
    study = "f-fidelity:explanations=oracle,shares=12,draws=20,beta=0.15"
    report = carry_out(catalog, study, asked)
    right, random = (value(report, name, "ffid-plus").mean for name in ("oracle", "random"))
    assert right > random + 0.1
    assert value(report, "oracle", "ffid-minus").mean < value(report, "random", "ffid-minus").mean + 0.05
    assert value(report, "fine-tuned model", "accuracy").mean > 0.75
    assert carry_out(catalog, study, asked, trainer=never).findings == report.findings


def test_what_does_not_fit_is_refused_before_training(catalog: Catalog, home: Path) -> None:
    for study in ("f-fidelity", "recursive-roar"):
        with pytest.raises(UsageError, match="nonsense"):
            carry_out(catalog, f"{study}:explanations=nonsense", spec(TASK), trainer=never)
    with pytest.raises(ValueError, match="leave nothing"):
        RecursiveRoarOptions(share=50, steps=2)
    with pytest.raises(ValueError, match="twice"):
        FFidelityOptions(explanations=("loo", "loo"))


def test_the_lab_explains_any_examples_and_keeps_models_of_other_data_apart(
    catalog: Catalog, home: Path
) -> None:
    asked = spec(TASK, training={"epochs": 1})
    lab = make_lab(catalog, "seed-variance", asked)
    model = lab.model(0)
    scores = lab.scores(model, 0, ["attention", "random"], lab.data.dev[:5])
    assert [len(s) for s in scores["random"]] == [len(example.units) for example in lab.data.dev[:5]]
    for found, own in zip(scores["attention"], lab.outputs(model, lab.data.dev[:5]).attention, strict=True):
        assert torch.allclose(found, own)
    other = lab.on(replace(lab.data, train=lab.data.train[:50]))
    assert len(other.data.train) == 50
    assert len(lab.data.train) == 240
    assert any(
        not torch.equal(a, b)
        for a, b in zip(other.model(0).state_dict().values(), model.state_dict().values(), strict=True)
    )
