import torch
from torch import Tensor

from attnx.formulas import Randomness, differentiated_at_once
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import OutputOptions
from .output import Output, values_by_unit


class InputXGradient(ImportanceMethod):
    """Gradient times embedding, summed over the dimensions of the embedding.

    X_i · ∂p/∂X_i for unit i (a word, an image patch, ...) with embedding X_i. Signed: positive scores
    support the class. Costs one forward and one backward pass.
    """

    needs = ("gradient",)
    passes = 3  # forward and backward

    def __init__(self, options: OutputOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        output = Output(model, trace, target, self.options.of)
        found = torch.zeros_like(trace.embeddings)  # [B, L, E]
        several = "layers" in model.provides  # whose backward pass needs the results of all layers
        most = differentiated_at_once(trace.batch.mask.shape[1], target.device)
        for rows in output.rows.split(most if several else len(target)):
            x = trace.embeddings[rows].detach().requires_grad_()  # [R, L, E]
            (gradient,) = torch.autograd.grad(output(x, rows).sum(), x)
            found[rows] = x.detach() * gradient
        return values_by_unit(found, trace, self.options.absolute)
