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
    """DeepLIFT (rescale rule): contributions of embeddings relative to a baseline, attention held fixed.

    The score of unit i (a word, an image patch, ...) is (X_i − B_i)·m_i, where X_i is its embedding, B_i
    the baseline, and m the gradient of the logit with every slope f′ of a non-linearity replaced by
    Δf/Δx. Signed: positive scores support the class. Over all units the scores add up to the change of
    the logit under fixed attention; the rule covers neither a softmax nor a product a_i h_i in which both
    factors change. Needs a model that provides "rescale": every non-linearity between embeddings and
    logits is a separate module of a type that Captum supports, used once per pass. Costs about two
    forward and two backward passes.
    """

    needs = ("gradient", "rescale", "reattend")
    passes = 6  # the example and its baseline, forward and backward

    def __init__(self, options: DeepLiftOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute

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
    """The output as a module whose submodules are those on which Captum sets hooks."""

    def __init__(self, output: Output) -> None:
        super().__init__()
        self.output = output
        self.parts = nn.ModuleList(_non_linearities(output))

    def forward(self, embeddings: Tensor, rows: Tensor) -> Tensor:
        return self.output(embeddings, rows)


def _non_linearities(output: Output) -> list[nn.Module]:
    """Find those that depend on the embeddings, unlike those of a query's encoder, by running one row."""
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
    """Suppress Captum's warning about hooks, and remove what it leaves on parts without a gradient."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"Setting forward, backward hooks")
            yield
    finally:
        for part in network.parts:
            for name in ("input", "output"):
                part.__dict__.pop(name, None)
