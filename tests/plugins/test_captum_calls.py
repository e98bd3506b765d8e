"""The Captum methods against Captum itself, called for one example at a time on its embeddings."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from captum import attr
from captum._utils.models.linear_model import SkLearnLasso
from captum.attr._core.lime import get_exp_kernel_similarity_function
from explained_models import MODELS, explain
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Batch, Model, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_captum.feature_ablation import FeatureAblation
from attnx_captum.gradient_shap import GradientShap
from attnx_captum.input_x_gradient import InputXGradient
from attnx_captum.integrated_gradients import IntegratedGradients
from attnx_captum.kernel_shap import KernelShap, draw
from attnx_captum.lime import Lime
from attnx_captum.options import (
    BaselineOptions,
    GradientShapOptions,
    IntegratedGradientsOptions,
    KernelShapOptions,
    LimeOptions,
    OutputOptions,
)
from attnx_captum.subsets import Subsets

some_models = pytest.mark.parametrize("make", ["toy", "words", "features", "bilstm", "cnn", "transformer"])

OWN = Randomness(0).to("importance it")  # as the core hands it to a method of that label


class Alone:
    """One example by itself, in the terms of Captum."""

    def __init__(self, model: Model, batch: Batch) -> None:
        self.model = model
        self.batch = batch
        with evaluating(model):
            self.trace = trace_of(model, batch)
        self.x = self.trace.embeddings.detach()  # [1, L, E]
        self.units = batch.mask[0]  # [L]
        self.zero = self.x.masked_fill(self.units[None, :, None], 0.0)

    def p(self, embeddings: Tensor) -> Tensor:
        """[R] of the predicted class, a row of the batch for every row of embeddings."""
        repeated = self.batch.take(torch.zeros(len(embeddings), dtype=torch.long))
        return self.model.run(repeated, embeddings).probabilities[:, int(self.trace.predicted)]

    @property
    def features(self) -> Tensor:
        """[1, L, 1] a number for every unit; the columns that are no units, which never change, share one."""
        number = self.units.cumsum(0) - 1
        return number.masked_fill(~self.units, 0)[None, :, None].expand_as(self.x)


def each(make: str, method: Any) -> Iterator[tuple[Alone, Tensor]]:
    """Every example alone, with the values of its units from the whole batch together."""
    model, data = MODELS[make]()
    trace, found = explain(model, data.test, method)
    for row, example in enumerate(data.test):
        alone = Alone(model, model.encode([example]))
        with evaluating(model):
            yield alone, found[row][trace.batch.mask[row]]


def assert_captums(found: Tensor, alone: Alone, attributions: Tensor) -> None:
    expected = attributions.detach()[0].sum(-1) if attributions.ndim == 3 else attributions[0]
    torch.testing.assert_close(found, expected[alone.units].float(), atol=2e-6, rtol=1e-3)


@some_models
def test_integrated_gradients(make: str) -> None:
    for alone, found in each(make, IntegratedGradients(IntegratedGradientsOptions(steps=20))):
        direct = attr.IntegratedGradients(alone.p).attribute(alone.x, alone.zero, n_steps=20)
        assert_captums(found, alone, direct)


@some_models
def test_input_x_gradient(make: str) -> None:
    for alone, found in each(make, InputXGradient(OutputOptions())):
        assert_captums(found, alone, attr.InputXGradient(alone.p).attribute(alone.x.clone().requires_grad_()))


@some_models
def test_feature_ablation(make: str) -> None:
    for alone, found in each(make, FeatureAblation(BaselineOptions())):
        # a unit's feature has the same effect in every entry of its embedding: look at the first
        direct = attr.FeatureAblation(alone.p).attribute(alone.x, alone.zero, feature_mask=alone.features)
        assert_captums(found, alone, direct[..., 0])


@some_models
def test_gradient_shap(make: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method = GradientShap(GradientShapOptions(samples=4))
    for alone, found in each(make, method):
        total = torch.zeros_like(alone.x)
        points = method.points(alone.trace, OWN)
        for number, share in enumerate(points.share):
            away = points.directions(torch.tensor([number]), torch.tensor([0]))
            alpha, baseline = 1 - share, alone.x - away
            with monkeypatch.context() as patch:
                patch.setattr(np.random, "uniform", lambda *_, drawn=alpha: drawn.double().numpy())
                total += attr.GradientShap(alone.p).attribute(alone.x, baseline, n_samples=1)
        assert_captums(found, alone, total / 4)


def kernel_shap(alone: Alone, subsets: Subsets) -> attr.Lime:
    method = attr.KernelShap(alone.p)
    method.perturb_func = rows_of(subsets)
    return method


def lime(alone: Alone, subsets: Subsets) -> attr.Lime:
    """With Captum's lasso, and its kernel on the subsets instead of on embeddings."""
    kernel = get_exp_kernel_similarity_function("cosine", 0.25)

    def similarity(original: Any, perturbed: Any, subset: Tensor, **_: Any) -> float:
        return kernel(torch.ones_like(subset), subset, subset)

    return attr.Lime(
        alone.p, SkLearnLasso(alpha=1e-3), similarity_func=similarity, perturb_func=rows_of(subsets)
    )


def rows_of(subsets: Subsets) -> Callable[..., Iterator[Tensor]]:
    def rows(*_: Any, **__: Any) -> Iterator[Tensor]:
        yield from subsets.present.long().split(1)

    return rows


SAMPLES = 40
LASSO = LimeOptions(samples=SAMPLES, regression="lasso", penalty=1e-3)


@some_models
@pytest.mark.parametrize("name", ["kernel-shap", "lime"])
def test_subsets(make: str, name: str) -> None:
    method = KernelShap(KernelShapOptions(samples=SAMPLES)) if name == "kernel-shap" else Lime(LASSO)
    for alone, found in each(make, method):
        n = len(found)
        size = max(SAMPLES, 2 * n + 2)
        u = OWN.to("seed 0").uniform(alone.batch, 2 * size)[0][:, alone.units]
        drawn = draw if isinstance(method, KernelShap) else method._draw
        subsets = drawn(u[:size], u[size:, 0])
        direct = (kernel_shap if name == "kernel-shap" else lime)(alone, subsets).attribute(
            alone.x, alone.zero, feature_mask=alone.features, n_samples=size, return_input_shape=False
        )
        torch.testing.assert_close(found, direct.flatten(), atol=1e-4, rtol=1e-3)


def test_subsets_follow_the_shapley_kernel() -> None:
    """Sizes in proportion to 1/(s(n − s)), every unit as often as any other."""
    generator = torch.Generator().manual_seed(0)
    n, size = 6, 60000
    subsets = draw(*(torch.rand(shape, generator=generator).double() for shape in ((size, n), (size,))))
    sizes = subsets.present.sum(1).long()
    assert sizes[:2].tolist() == [n, 0]
    assert subsets.weights.tolist()[:3] == [1e6, 1e6, 1]
    s = torch.arange(1, n)
    kernel = 1 / (s * (n - s))
    torch.testing.assert_close(
        sizes[2:].bincount(minlength=n)[1:] / (size - 2), kernel / kernel.sum(), atol=0.01, rtol=0
    )
    torch.testing.assert_close(subsets.present.mean(0), torch.full((n,), 0.5), atol=0.01, rtol=0)


def test_baselines_of_gradient_shap_are_drawn_around_the_baseline() -> None:
    model, data = MODELS["bilstm"]()
    trace: Trace = explain(model, data.test, InputXGradient(OutputOptions()))[0]
    method = GradientShap(GradientShapOptions(spread=0.5, samples=300))
    points = method.points(trace, OWN)
    alphas, rows = 1 - points.share, torch.arange(len(trace.batch))  # [300, B]
    away = torch.stack([points.directions(torch.full_like(rows, number), rows) for number in range(300)])
    baselines = trace.embeddings - away  # [300, B, L, E]
    mask = trace.batch.mask
    assert (baselines[:, ~mask] == trace.embeddings[~mask]).all()
    for row, units in enumerate(mask):
        noise = baselines[:, row, units]
        size = trace.embeddings[row, units].square().mean().sqrt()
        assert abs(float(noise.mean())) < 0.05 * size
        assert abs(float(noise.std() / size) - 0.5) < 0.03
    assert abs(float(alphas.mean()) - 0.5) < 0.05
    assert alphas.min() < 0.05
    assert alphas.max() > 0.95
