"""`deeplift`: the rescale rule by hand, sums that must come out, and a model left as it was."""

import dataclasses
from functools import partial

import pytest
import torch
from explained_models import TEXT, Make, explain, features, words
from torch import Tensor, nn

from attnx.formulas import Randomness
from attnx.plugin import Example, Model, TaskData
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, attribute, trace_of
from attnx.testing import ToyModel
from attnx_captum.deeplift import DeepLift
from attnx_captum.options import DeepLiftOptions
from attnx_captum.output import baseline_of
from attnx_encoders.mlp import Mlp
from attnx_encoders.options import SequenceOptions
from attnx_sdc.fcam import Fcam

# The built-in models that keep the rule: each non-linearity that counts is a module used once.
RESCALING: dict[str, Make] = {
    "fcam linear": partial(features, focus="linear", classifier="linear", layer=0),
    "fcam relu": partial(features, focus="mlp", classifier="relu", layer=2),
    "fcam mlp": partial(words, focus="mlp", classifier="mlp", layer=1),
    "fcam mlp on segments": partial(features, focus="mlp", classifier="mlp", layer=0),
    "mlp": TEXT["mlp"],
    "average": TEXT["average"],
    "cnn": TEXT["cnn"],
}
NOT_RESCALING = ["bilstm", "transformer", "han"]


def change_of_logit(model: Model, data: TaskData, baseline: str) -> tuple[Tensor, Tensor]:
    """[B] the sum of values, and the change of the logit with attention held."""
    trace, found = explain(model, data.test, DeepLift(DeepLiftOptions(baseline=baseline)))  # type: ignore[arg-type]
    instead = baseline_of(trace, baseline)  # type: ignore[arg-type]
    with evaluating(model):
        other = model.run(trace.batch, instead, attention=trace.attention).logits
    change = (trace.logits - other).gather(1, trace.predicted[:, None])[:, 0]
    return found.sum(1), change


@pytest.mark.parametrize("baseline", ["zero", "mean"])
@pytest.mark.parametrize("make", list(RESCALING))
def test_values_add_up_to_the_change_of_the_logit(make: str, baseline: str) -> None:
    total, change = change_of_logit(*RESCALING[make](), baseline)
    assert change.abs().max() > 0.01
    torch.testing.assert_close(total, change, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("make", NOT_RESCALING)
def test_values_do_not_add_up_for_models_that_must_not_declare_the_rule(make: str) -> None:
    total, change = change_of_logit(*TEXT[make](), "zero")
    assert (total - change).abs().max() > 0.1 * change.abs().max()


def test_one_hidden_layer_by_hand() -> None:
    """m = W₁ᵀ diag(Δrelu/Δin) w₂ with one hidden layer in g and the mean segment for its input."""
    model, data = features(focus="linear", classifier="relu", layer=0)
    assert isinstance(model, Fcam)
    trace, found = explain(model, data.test, DeepLift(DeepLiftOptions()))
    a = trace.attention[..., None].double()  # [B, L, 1]
    x = trace.embeddings.double()
    layer, head = model.classifier.layers[0][0].double(), model.classifier.head.double()  # type: ignore[index]
    with torch.no_grad():
        z, zero = layer((a * x).sum(1)), layer(torch.zeros_like(x[:, 0]))
        slope = (z.relu() - zero.relu()) / (z - zero)  # [B, H]
        multiplier = (slope * head.weight[trace.predicted]) @ layer.weight  # [B, E]
    expected = (a * x * multiplier[:, None]).sum(-1)
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-4)


def test_a_query_has_no_part_in_it() -> None:
    """Its encoder has non-linearities too, through which nothing of the embeddings passes."""
    examples = tuple(
        Example(f"{i}", ("red", "green", "blue")[: 2 + i % 2], i % 2, query=("which", "one"))
        for i in range(4)
    )
    data = TaskData(examples, examples, examples, ("no", "yes"))
    torch.manual_seed(0)
    model = Mlp.build(data, ToyModel().projection, SequenceOptions(hidden=8, embedding=6))
    total, change = change_of_logit(model, data, "zero")
    torch.testing.assert_close(total, change, atol=1e-5, rtol=1e-3)


class Breaking(nn.Module):
    """Fails from its third call on: after the trace and the look for non-linearities."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        if self.calls > 2:
            raise RuntimeError("this model fails on purpose")
        return self.inner(x)


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_left_on_the_modules_even_when_the_model_fails(fails: bool) -> None:
    model, data = words(focus="mlp", classifier="mlp", layer=1)
    assert isinstance(model, Fcam)
    if fails:
        model.classifier.head = Breaking(model.classifier.head)  # after every ReLU has run
    before = [dict(module.__dict__) for module in model.modules()]
    with evaluating(model):
        trace = trace_of(model, model.encode(data.test))
        method = Named("deeplift", DeepLift(DeepLiftOptions()))
        if fails:
            with pytest.raises(RuntimeError, match="on purpose"):
                attribute(method, model, trace, trace.predicted)
        else:
            attribute(method, model, trace, trace.predicted)
        for module, was in zip(model.modules(), before, strict=True):
            hooks = [name for name in was if name.endswith("_hooks") and module.__dict__[name]]
            assert hooks == []
            assert set(module.__dict__) == set(was)
            assert not module.training
        assert all(p.grad is None and not p.requires_grad for p in model.parameters())


def test_the_trace_is_not_changed() -> None:
    model, data = words()
    with evaluating(model):
        trace = trace_of(model, model.encode(data.test))
        before = dataclasses.replace(trace, embeddings=trace.embeddings.clone())
        with torch.enable_grad():
            DeepLift(DeepLiftOptions())(model, trace, trace.predicted, Randomness(0))
    assert torch.equal(trace.embeddings, before.embeddings)
    assert not trace.embeddings.requires_grad
