import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from captum import attr
from captum.attr._core.deep_lift import SUPPORTED_NON_LINEAR
from torch import Tensor, nn

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import DeepLiftOptions
from .output import Output, baseline_of, values_by_unit


class DeepLift(ImportanceMethod):
    """Differences from a baseline, handed back by the rescale rule with attention held.

    (X_i − B_i)·m_i, where m is the gradient of the logit with every slope f′ of a non-linearity
    replaced by Δf/Δx. Over all units the values add up to the change of the logit under fixed
    attention: the rule knows no product a_i h_i of two things that both change, nor a softmax.
    A model that provides "rescale" has each non-linearity between embeddings and logits, attention
    held, as a module of its own of a type that Captum knows, used once in a pass.
    """

    needs = ("gradient", "rescale", "reattend")
    passes = 6  # of the example and of its baseline, there and back

    def __init__(self, options: DeepLiftOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        output = Output(model, trace, target, "logit", hold_attention=True)
        network = _Network(output)
        with _tidied(network):
            found = attr.DeepLift(network).attribute(
                trace.embeddings.detach().requires_grad_(),
                baselines=baseline_of(trace, self.options.baseline),
                additional_forward_args=output.rows,
            )
        return values_by_unit(found, trace, self.options.absolute)


class _Network(nn.Module):
    """The output as a module whose parts are those that Captum is to hang its hooks on."""

    def __init__(self, output: Output) -> None:
        super().__init__()
        self.output = output
        self.parts = nn.ModuleList(_non_linearities(output))

    def forward(self, embeddings: Tensor, rows: Tensor) -> Tensor:
        return self.output(embeddings, rows)


def _non_linearities(output: Output) -> list[nn.Module]:
    """Those that depend on the embeddings, unlike those in the encoder of a query: one row tells."""
    found: list[nn.Module] = []

    def note(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        if inputs[0].requires_grad:
            found.append(module)

    modules = cast("nn.Module", output.model).modules()
    known = [module for module in modules if type(module) in SUPPORTED_NON_LINEAR]
    handles = [module.register_forward_pre_hook(note) for module in known]
    try:
        output(output.trace.embeddings[:1].detach().requires_grad_(), output.rows[:1])
    finally:
        for handle in handles:
            handle.remove()
    return found


@contextmanager
def _tidied(network: _Network) -> Iterator[None]:
    """Without Captum's warning that it sets hooks, and without what it leaves where no gradient comes."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"Setting forward, backward hooks")
            yield
    finally:
        for part in network.parts:
            for name in ("input", "output"):
                part.__dict__.pop(name, None)
