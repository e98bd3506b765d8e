"""Metrics that explain again: another input, another class, a reset model."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor
from toy_evidence import Given, evidence_of, texts

import attnx
from attnx.formulas import Randomness, shuffled_copy
from attnx.plugin import Evidence, Example, ImportanceMethod, Model, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import (
    AgainExplaining,
    Named,
    attribute,
    counted_passes,
    explainer_of,
    trace_of,
)
from attnx.testing.toy import WORDS, ToyModel
from attnx_baselines.attention import Attention
from attnx_baselines.precomputed import Precomputed
from attnx_erasure.loo import LeaveOneOut
from attnx_erasure.options import LeaveOneOutOptions
from attnx_gradient.gradient import Gradient
from attnx_gradient.options import GradientOptions
from attnx_sensitivity.class_sensitivity import ClassSensitivity
from attnx_sensitivity.max_sensitivity import MaxSensitivity
from attnx_sensitivity.noise import with_noise
from attnx_sensitivity.options import MaxSensitivityOptions, ParameterRandomisationOptions
from attnx_sensitivity.parameter_randomisation import ParameterRandomisation, histogram_entropy

LOO = LeaveOneOut(LeaveOneOutOptions())
DISTINCT = [Example("t-0", WORDS[1:], 0), Example("t-1", WORDS[:0:-1][:3], 1)]  # no word twice in a text


def with_changed_words(example: Example, noise: Tensor) -> ToyModel:
    """A toy model whose word vectors are those of the noisy text."""
    model = ToyModel()
    for place, word in enumerate(example.units):
        model.vectors.data[WORDS.index(word)] += noise[place]
    return model


@torch.no_grad()
def test_a_method_that_deletes_words_explains_the_noisy_input_too() -> None:
    model = ToyModel().eval()
    batch = model.encode(DISTINCT)
    noise = torch.randn(2, 5, 2, generator=torch.Generator().manual_seed(0)) * batch.mask[..., None]
    target = torch.tensor([0, 1])
    for method in (LOO, Attention(), Gradient(GradientOptions())):
        named = Named("it", method)
        with evaluating(model), with_noise(model, batch, noise) as trace:
            found = attribute(named, model, trace, target).values
        for row, example in enumerate(DISTINCT):
            other = with_changed_words(example, noise[row])
            with evaluating(other):
                alone = trace_of(other, other.encode([example]))
                expected = attribute(named, other, alone, target[[row]]).values[0]
            assert found[row, : len(example.units)].tolist() == pytest.approx(expected.tolist(), abs=1e-5)
    assert "embed" not in vars(model)


@torch.no_grad()
def test_the_largest_of_several_changes_relative_to_the_size_of_the_scores() -> None:
    seen = evidence_of(LOO, DISTINCT)
    options = MaxSensitivityOptions(radius=0.3, draws=4)
    found = MaxSensitivity(options)(seen)
    for row, example in enumerate(DISTINCT):
        moved, before = [], seen.explanation.values[row, : len(example.units)].double()
        for draw in range(4):
            u = seen.random.to(f"input {draw}").uniform(seen.trace.batch, 2)[row, :, : len(example.units)]
            noise = ((2 * u - 1) * 0.3).float().T
            assert float(noise.abs().max()) <= 0.3
            after = evidence_of(LOO, [example], with_changed_words(example, noise))
            explained = AgainExplaining(Named("it", LOO), 0)(
                after.model, after.trace, seen.explanation.target[[row]]
            )
            moved.append(float((explained[0].double() - before).norm()))
        assert float(found[row]) == pytest.approx(max(moved) / float(before.norm()), abs=1e-4)


@torch.no_grad()
def test_scores_that_ignore_the_input_the_class_and_the_model() -> None:
    seen = evidence_of(Given([[3.0, 1, 2, 0, 0, 5]] * 3), texts(3))
    assert MaxSensitivity(MaxSensitivityOptions())(seen).tolist() == [0, 0, 0]
    assert ClassSensitivity()(seen).tolist() == pytest.approx([1, 1, 1])
    found = ParameterRandomisation(ParameterRandomisationOptions())(seen)
    assert found[:, 0].tolist() == [0, 0, 0]
    assert found[:, 1].tolist() == pytest.approx([1, 1, 1])


@torch.no_grad()
def test_two_classes_turn_signed_scores_around_and_leave_sizes() -> None:
    signed = Gradient(GradientOptions(reduce="signed"))
    assert ClassSensitivity()(evidence_of(signed, texts(4))).tolist() == pytest.approx([-1] * 4)
    assert ClassSensitivity()(evidence_of(Gradient(GradientOptions()), texts(4))).tolist() == pytest.approx(
        [1] * 4
    )


class ThreeClasses(ToyModel):
    """The toy model with a third class."""

    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Parameter(torch.tensor([[0.0, -1.0], [0.0, 1.0], [1.0, 0.3]]))


@torch.no_grad()
def test_the_other_class_is_the_next_most_probable_one() -> None:
    method = Gradient(GradientOptions(reduce="signed"))
    seen = evidence_of(method, texts(5), ThreeClasses())
    found = ClassSensitivity()(seen)
    again = AgainExplaining(Named("it", method), 0)
    second = seen.trace.logits.argsort(1, descending=True)[:, 1]
    other = again(seen.model, seen.trace, second)
    expected = [stats.spearmanr(a, b).statistic for a, b in zip(seen.explanation.values, other, strict=True)]
    assert found.tolist() == pytest.approx(expected, abs=1e-6)
    assert len({round(value, 3) for value in expected}) > 1


@torch.no_grad()
def test_attention_is_one_by_construction_and_costs_no_pass() -> None:
    seen = evidence_of(Attention(), texts(3))
    with counted_passes(seen.model) as passes:
        assert ClassSensitivity()(seen).tolist() == [1, 1, 1]
    assert passes.count == 0


def test_scores_that_were_given_are_undefined() -> None:
    seen = evidence_of(Attention(), texts(2))
    given = Evidence(seen.trace, seen.explanation, None, seen.model, seen.random)
    for metric in (
        MaxSensitivity(MaxSensitivityOptions()),
        ClassSensitivity(),
        ParameterRandomisation(ParameterRandomisationOptions()),
    ):
        assert metric(given).isnan().all()


@pytest.mark.parametrize("bins", [0, 3, 10])
def test_entropy_of_the_histogram_is_that_of_numpy_and_scipy(bins: int) -> None:
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=n) for n in (1, 2, 5, 17, 32, 33)]
    width = max(map(len, rows))
    scores = torch.stack(
        [torch.nn.functional.pad(torch.tensor(row), (0, width - len(row)), value=9.0) for row in rows]
    )
    mask = torch.arange(width) < torch.tensor([[len(row)] for row in rows])
    found = histogram_entropy(scores, mask, bins)
    for entropy, row in zip(found.tolist(), rows, strict=True):
        count = bins or int(np.ceil(np.log2(len(row)))) + 1
        assert entropy == pytest.approx(stats.entropy(np.histogram(row, bins=count)[0]), abs=1e-9)
    assert histogram_entropy(torch.ones(1, 4), torch.ones(1, 4, dtype=torch.bool), bins).tolist() == [0]


@torch.no_grad()
def test_the_rise_of_entropy_is_that_of_the_reset_model() -> None:
    torch.manual_seed(0)
    model = ToyModel()
    model.vectors.data.copy_(torch.randn(6, 2))
    seen = evidence_of(Attention(), texts(5, size=9), model)
    found = ParameterRandomisation(ParameterRandomisationOptions(bins=4, draws=1, noise=0))(seen)
    reset = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(0)
    for parameter in reset.parameters():
        order = torch.randperm(parameter.numel(), generator=generator)
        parameter.data.copy_(parameter.data.flatten()[order].view_as(parameter))
    after = evidence_of(Attention(), texts(5, size=9), reset).explanation.values
    for row in range(5):
        h, h_hat = (
            stats.entropy(np.histogram(values[row].numpy(), bins=4)[0])
            for values in (seen.explanation.values, after)
        )
        assert float(found[row, 0]) == pytest.approx((h_hat - h) / h, abs=1e-6)
        similar = stats.spearmanr(seen.explanation.values[row], after[row]).statistic
        assert float(found[row, 1]) == pytest.approx(similar, abs=1e-6)


def test_a_watched_model_is_reset_too_and_a_changed_one_is_reset_again() -> None:
    model = ToyModel().eval()
    batch = model.encode(texts(3))
    expected = shuffled_copy(ToyModel().eval(), 1)
    with counted_passes(model) as passes, torch.no_grad():
        other = shuffled_copy(model, 1)
        assert torch.equal(
            other.run(batch, other.embed(batch)).logits, expected.run(batch, expected.embed(batch)).logits
        )
    assert passes.count == 0
    assert shuffled_copy(model, 1) is other
    with torch.no_grad():
        model.head.mul_(2)
    assert shuffled_copy(model, 1) is not other


class Fails(ImportanceMethod):
    """Explains the first model and no other."""

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        raise ValueError("no")


def test_the_model_embeds_as_before_even_if_the_method_fails() -> None:
    seen = evidence_of(Attention(), texts(2))
    failing = Evidence(
        seen.trace, seen.explanation, None, seen.model, seen.random, AgainExplaining(Named("it", Fails()), 0)
    )
    with pytest.raises(ValueError, match="no"):
        MaxSensitivity(MaxSensitivityOptions())(failing)
    assert "embed" not in vars(seen.model)


def test_scores_of_a_file_cannot_be_explained_again() -> None:
    assert explainer_of(Named("attention", Attention()), 0) is not None
    assert explainer_of(Named("file", Precomputed.__new__(Precomputed)), 0) is None


def test_a_run_explains_again_and_decides_nothing_by_it(home) -> None:
    report = attnx.evaluate(
        "sdc-text:train=60,dev=20,test=12", "cnn-small", explanations=["attention", "loo"],
        metrics=["max-sensitivity:draws=1", "class-sensitivity", "parameter-randomisation:draws=1"],
        training={"epochs": 1}, progress=False,
    )  # fmt: skip
    assert report.select("similarity", explanation="attention").mean == 1
    assert report.select("similarity", explanation="loo").mean == pytest.approx(-1)
    assert 0 < report.select("max-sensitivity", explanation="loo").mean < 10
    families = {found.family: found.status for found in report.evidence if found.explanation == "loo"}
    assert families == {"randomisation": "supported", "robustness": "contradicted"}
    assert report.verdict("loo").share is None
