"""`gradient`: closed forms on the toy model, Captum and finite differences, and every option."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from captum.attr import InputXGradient, Saliency
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Batch, Example, Options, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, attribute, trace_of
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx_gradient.gradient import Gradient
from attnx_gradient.options import GradientOptions
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import FcamOptions, SdcTextOptions
from attnx_sdc.text import SdcText

OF = ("probability", "logit", "loss")
REDUCE = ("l2", "l1", "dot-embedding-abs", "signed")
ATTENTION = ("flowing", "fixed")
JAIN_WALLACE = GradientOptions(reduce="dot-embedding-abs", attention="fixed")

every_option = pytest.mark.parametrize(
    ("of", "reduce", "attention"), list(itertools.product(OF, REDUCE, ATTENTION))
)


def values(
    model: ToyModel | Fcam, options: GradientOptions, target: Tensor | None = None
) -> tuple[Trace, Tensor]:
    """Trace and values [B, L] as the evaluator gets them."""
    data = toy_data() if isinstance(model, ToyModel) else SdcText(SdcTextOptions()).sample()
    batch = model.encode(data.test)
    with evaluating(model):
        trace = trace_of(model, batch)
        chosen = trace.predicted if target is None else target
        return trace, attribute(Named("gradient", Gradient(options)), model, trace, chosen).values


def fcam() -> Fcam:
    torch.manual_seed(0)
    data = SdcText(SdcTextOptions()).sample()
    return Fcam.build(data, ToyModel().projection, FcamOptions(layer=1))


@pytest.fixture
def toy() -> ToyModel:
    return ToyModel()


def toy_gradient(trace: Trace, of: str, attention: str) -> np.ndarray:
    """∂/∂x_i by hand: the margin is 2s·c_2 with s = ±1, c_2 = Σ a_i x_i2, ∂a_i/∂x_j1 = a_i(δ_ij − a_j)."""
    x, a = trace.embeddings.double().numpy(), trace.attention.double().numpy()
    sign = np.where(trace.predicted.numpy() == 1, 1.0, -1.0)[:, None]
    context = (a * x[..., 1]).sum(1, keepdims=True)
    first = a * (x[..., 1] - context) if attention == "flowing" else np.zeros_like(a)
    gradient = sign[..., None] * np.stack([first, a], axis=-1)  # of the target's logit
    p = 1 / (1 + np.exp(-2 * sign * context))
    factor = {"logit": np.ones_like(p), "probability": 2 * p * (1 - p), "loss": -2 * (1 - p)}[of]
    return gradient * factor[..., None]


def reduced(gradient: np.ndarray, x: np.ndarray, reduce: str) -> np.ndarray:
    dot = (gradient * x).sum(-1)
    return {
        "l2": np.sqrt((gradient**2).sum(-1)),
        "l1": np.abs(gradient).sum(-1),
        "dot-embedding-abs": np.abs(dot),
        "signed": dot,
    }[reduce]


@every_option
def test_toy_model_has_the_closed_form(toy: ToyModel, of: str, reduce: str, attention: str) -> None:
    options = GradientOptions(of=of, reduce=reduce, attention=attention, normalise=False)  # type: ignore[arg-type]
    trace, found = values(toy, options)
    expected = reduced(toy_gradient(trace, of, attention), trace.embeddings.numpy(), reduce)
    np.testing.assert_allclose(found.numpy(), expected * trace.batch.mask.numpy(), atol=1e-6)


@every_option
def test_normalised_values_are_shares_of_the_absolute_sum(
    toy: ToyModel, of: str, reduce: str, attention: str
) -> None:
    options = GradientOptions(of=of, reduce=reduce, attention=attention)  # type: ignore[arg-type]
    _, shares = values(toy, options)
    _, raw = values(toy, options.model_copy(update={"normalise": False}))
    torch.testing.assert_close(shares, raw / raw.abs().sum(1, keepdim=True))


@pytest.mark.parametrize("attention", ATTENTION)
@pytest.mark.parametrize("target", [0, 1])
def test_captum_agrees_on_fcam_for_any_target(attention: str, target: int) -> None:
    model = fcam()
    batch = model.encode(SdcText(SdcTextOptions()).sample().test)
    chosen = torch.full((len(batch),), target)
    signed = GradientOptions(reduce="signed", attention=attention, normalise=False)  # type: ignore[arg-type]
    l2 = signed.model_copy(update={"reduce": "l2"})
    trace, dots = values(model, signed, chosen)
    held = trace.attention if attention == "fixed" else None

    def probabilities(embeddings: Tensor) -> Tensor:
        return model.run(batch, embeddings, attention=held).probabilities

    embeddings = trace.embeddings.clone().requires_grad_()
    captum = InputXGradient(probabilities).attribute(embeddings, target=chosen).sum(-1).detach()
    torch.testing.assert_close(dots, captum.masked_fill(~batch.mask, 0), atol=1e-6, rtol=1e-4)
    saliency = Saliency(probabilities).attribute(embeddings, target=chosen, abs=False).norm(dim=-1)
    found = values(model, l2, chosen)[1]
    torch.testing.assert_close(found, saliency.detach().masked_fill(~batch.mask, 0), atol=1e-6, rtol=1e-4)


def test_finite_differences_agree_in_double_precision() -> None:
    model = fcam().double().eval()
    batch = model.encode(SdcText(SdcTextOptions()).sample().test[:2])
    trace = trace_of(model, batch)
    target = trace.predicted
    x = trace.embeddings.detach()
    found = Gradient(GradientOptions(reduce="l1", normalise=False))(model, trace, target, Randomness(0))

    def p(embeddings: Tensor) -> Tensor:
        return model.run(batch, embeddings).probabilities.gather(1, target[:, None])[:, 0].detach()

    step, unit = 1e-6, 3
    slopes = torch.zeros(len(batch), dtype=torch.float64)
    for e in range(x.shape[-1]):
        moved = torch.zeros_like(x)
        moved[:, unit, e] = step
        slopes += ((p(x + moved) - p(x - moved)) / (2 * step)).abs()
    torch.testing.assert_close(found[:, unit], slopes, atol=1e-9, rtol=1e-6)


def test_jain_and_wallace_hold_attention_fixed_and_project_on_the_embedding(toy: ToyModel) -> None:
    trace, found = values(toy, JAIN_WALLACE)
    expected = (trace.attention * trace.embeddings[..., 1]).abs()  # ∝ |a_i x_i2|
    torch.testing.assert_close(found, expected / expected.sum(1, keepdim=True))


@pytest.mark.parametrize("reduce", REDUCE)
def test_a_confident_model_keeps_its_gradient(toy: ToyModel, reduce: str) -> None:
    options = GradientOptions(of="logit", reduce=reduce)  # type: ignore[arg-type]
    target = torch.ones(len(toy_data().test), dtype=torch.long)
    calm = values(toy, options, target)[1]
    with torch.no_grad():
        toy.head.copy_(torch.tensor([[0.0, 0.0], [0.0, 220.0]]))
    trace, confident = values(toy, options.model_copy(update={"of": "probability"}), target)
    assert trace.probabilities[:, 1].max() == 1  # in single precision, where its gradient would be 0
    torch.testing.assert_close(confident, calm)


class Marked(ToyModel):
    """Reads its first column although attention may not go there, as a recurrent model reads a start mark."""

    def encode(self, examples: Sequence[Example]) -> Batch:
        batch = super().encode(examples)
        mask = batch.mask.clone()
        mask[:, 0] = False
        return dataclasses.replace(batch, mask=mask, unit_index=batch.unit_index.masked_fill(~mask, -1))

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        trace = super().run(batch, embeddings, attention=attention)
        return dataclasses.replace(trace, logits=trace.logits + embeddings[:, 0])


def test_a_column_off_the_mask_takes_no_share() -> None:
    model = Marked()
    with evaluating(model):
        trace = trace_of(model, model.encode(toy_data().test))
        with torch.enable_grad():
            shares = Gradient(GradientOptions())(model, trace, trace.predicted, Randomness(0))
    assert (shares[:, 0] == 0).all()
    torch.testing.assert_close(shares.sum(1), torch.ones(len(shares)))


def test_no_gradient_at_all_gives_zeros_and_not_nan(toy: ToyModel) -> None:
    with torch.no_grad():
        toy.head.zero_()
    assert (values(toy, GradientOptions())[1] == 0).all()


def test_unknown_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="attention"):
        GradientOptions(attention="frozen")  # type: ignore[arg-type]


@every_option
def test_laws(of: str, reduce: str, attention: str) -> None:
    options: Options = GradientOptions(of=of, reduce=reduce, attention=attention)  # type: ignore[arg-type]
    assert_conforms("importance", Gradient(options))  # type: ignore[arg-type]
