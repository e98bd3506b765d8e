"""`smoothgrad` against Captum's NoiseTunnel on the same noise, and against the plain gradient."""

import pytest
import torch
from captum import attr
from explained_models import MODELS, explain
from torch import Tensor

from attnx.formulas import Randomness
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx_gradient.gradient import Gradient
from attnx_gradient.options import GradientOptions, SmoothGradOptions
from attnx_gradient.smoothgrad import SmoothGrad

OWN = Randomness(0).to("importance it")  # as the core hands it to a method of that label


@pytest.mark.parametrize("make", ["toy", "words", "bilstm", "cnn", "transformer"])
def test_it_is_captums_noise_tunnel_on_the_same_noise(make: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = MODELS[make]()
    method = SmoothGrad(SmoothGradOptions(samples=5, noise=0.3, reduce="signed", normalise=False))
    _, found = explain(model, data.test, method)
    for row, example in enumerate(data.test):
        batch = model.encode([example])
        with evaluating(model):
            trace = trace_of(model, batch)
            points = method.points(trace, OWN)
            numbers = torch.arange(5)
            noise = -points.share[:, :, None] * points.directions(numbers, torch.zeros_like(numbers))

            def p(x: Tensor, batch=batch, trace=trace) -> Tensor:  # type: ignore[no-untyped-def]
                rows = torch.zeros(len(x), dtype=torch.long)
                return model.run(batch.take(rows), x).probabilities[:, int(trace.predicted)]

            tunnel = attr.NoiseTunnel(attr.Saliency(p))
            with torch.enable_grad(), monkeypatch.context() as patch:
                patch.setattr(torch, "normal", lambda *_, noise=noise: noise)
                gradient = tunnel.attribute(trace.embeddings, nt_samples=5, abs=False)
        expected = (gradient * trace.embeddings).sum(-1)[0]
        units = batch.mask[0]
        torch.testing.assert_close(
            found[row, : len(units)][units], expected[units].float(), atol=2e-6, rtol=1e-3
        )


@pytest.mark.parametrize("attention", ["flowing", "fixed"])
@pytest.mark.parametrize("make", ["toy", "bilstm"])
def test_without_noise_it_is_the_gradient(make: str, attention: str) -> None:
    model, data = MODELS[make]()
    _, expected = explain(model, data.test, Gradient(GradientOptions(attention=attention)))  # type: ignore[arg-type]
    options = SmoothGradOptions(noise=0, samples=3, attention=attention)  # type: ignore[arg-type]
    _, found = explain(model, data.test, SmoothGrad(options))
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-4)


def test_noise_and_its_seed_change_the_scores() -> None:
    plain, noisy, other = (
        explain(ToyModel(), toy_data().test, SmoothGrad(SmoothGradOptions(noise=noise, seed=seed)))[1]
        for noise, seed in ((0.0, 0), (0.5, 0), (0.5, 1))
    )
    assert not torch.allclose(plain, noisy, atol=1e-4)
    assert not torch.allclose(noisy, other, atol=1e-4)


@pytest.mark.parametrize("make", ["toy", "bilstm"])
def test_draws_belong_to_examples(make: str) -> None:
    model, data = MODELS[make]()
    model.double()  # type: ignore[attr-defined]
    subject = SmoothGrad(SmoothGradOptions(samples=3))
    _, together = explain(model, data.test, subject)
    _, backwards = explain(model, data.test[::-1], subject)
    torch.testing.assert_close(backwards.flip(0), together, atol=1e-9, rtol=1e-6)
    _, alone = explain(model, [data.test[0]], subject)
    torch.testing.assert_close(alone[0], together[0, : alone.shape[1]], atol=1e-9, rtol=1e-6)


def test_normal_numbers_are_normal_and_longer_vectors_begin_alike() -> None:
    batch = ToyModel().encode(toy_data().test)
    short, long = (OWN.normal(batch, 3, size) for size in (70, 130))
    assert torch.equal(long[..., :70], short)
    assert (long[:, ~batch.mask] == 0).all()
    drawn = OWN.normal(batch, 4000, 1)[:, batch.mask]
    assert abs(float(drawn.mean())) < 0.02
    assert abs(float(drawn.std()) - 1) < 0.02


@pytest.mark.parametrize("reduce", ["l2", "signed"])
def test_laws(reduce: str) -> None:
    assert_conforms("importance", SmoothGrad(SmoothGradOptions(reduce=reduce, samples=4)))  # type: ignore[arg-type]
