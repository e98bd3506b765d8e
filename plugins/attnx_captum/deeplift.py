import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from captum import attr
from torch import Tensor, nn

from attnx import ImportanceMethod, Model, Trace

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

    needs = ("gradient", "rescale")

    def __init__(self, options: DeepLiftOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor) -> Tensor:
        output = Output(model, trace, target, "logit", hold_attention=True)
        with _rescaled(_Network(output)) as rescaling:
            found = rescaling.attribute(
                trace.embeddings.detach().requires_grad_(),
                baselines=baseline_of(trace, self.options.baseline),
                additional_forward_args=output.rows,
            )
        return values_by_unit(found, trace, self.options.absolute)


class _Network(nn.Module):
    """The output as a module that owns the model's parts, which is what Captum hangs its hooks on."""

    def __init__(self, output: Output) -> None:
        super().__init__()
        self.output = (output,)  # in a tuple, so that a model's parts are not owned twice
        self.parts = nn.ModuleList(cast("nn.Module", output.model).children())

    def forward(self, embeddings: Tensor, rows: Tensor) -> Tensor:
        return self.output[0](embeddings, rows)


class _OnThePath(attr.DeepLift):
    """Leaves alone what does not depend on the embeddings, such as the encoder of a query."""

    def __init__(self, network: _Network) -> None:
        super().__init__(network)
        self.reached = _reached(network)

    def _can_register_hook(self, module: nn.Module) -> bool:
        return module in self.reached and super()._can_register_hook(module)


def _reached(network: _Network) -> set[nn.Module]:
    """The modules that something computed from the embeddings passes through: one row tells."""
    reached: set[nn.Module] = set()

    def note(module: nn.Module, inputs: tuple[object, ...]) -> None:
        if any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
            reached.add(module)

    output = network.output[0]
    handles = [module.register_forward_pre_hook(note) for module in network.modules()]
    try:
        network(output.trace.embeddings[:1].detach().requires_grad_(), output.rows[:1])
    finally:
        for handle in handles:
            handle.remove()
    return reached


@contextmanager
def _rescaled(network: _Network) -> Iterator[_OnThePath]:
    """Captum's method, without its warning about hooks and without what it leaves on modules."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Setting forward, backward hooks")
            yield _OnThePath(network)
    finally:
        for module in network.modules():
            for left in ("input", "output"):
                if module is not network:
                    module.__dict__.pop(left, None)
