from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.formulas import Randomness, class_output, differentiated_at_once
from attnx.plugin import ImportanceMethod, Model, Passes, Trace

from .options import GradientOptions


class Gradient(ImportanceMethod):
    """Size of the gradient of the predicted probability with respect to each unit's embedding.

    The score of unit i (a word, an image patch, ...) is ‖∂p_ŷ/∂X_i‖₂ / Σ_k ‖∂p_ŷ/∂X_k‖₂, where X_i is its
    embedding; higher is more important. If all gradients of an example are 0, its scores are 0. Jain and
    Wallace use reduce=dot-embedding-abs, attention=fixed (`gradient-jw`). Costs one forward and one
    backward pass. It describes very small changes of the embedding, not the effect of deleting the unit.
    """

    needs: ClassVar[tuple[str, ...]] = ("gradient",)
    passes: Passes = 3  # forward and backward

    def __init__(self, options: GradientOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = options.reduce == "signed"

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        gradient = torch.zeros_like(trace.embeddings)  # [B, L, E]
        for rows in _passes(model, trace):
            part = trace.take(rows)
            embeddings = part.embeddings.detach().requires_grad_()  # [R, l, E]
            held = part.attention if self.options.attention == "fixed" else None
            logits = model.run(part.batch, embeddings, attention=held).logits  # [R, C]
            # examples do not affect each other, so the gradient of the sum contains the gradient of each
            output = class_output(logits, target[rows], self.options.of).sum()
            (gradient[rows, : embeddings.shape[1]],) = torch.autograd.grad(output, embeddings)
        return self.sizes(gradient, trace.embeddings, trace.batch.mask)

    def sizes(self, gradient: Tensor, vectors: Tensor, mask: Tensor) -> Tensor:
        """[B, L] the sizes of gradients [B, L, E] with respect to vectors [B, L, E]."""
        values = self._reduced(gradient, vectors.detach()).masked_fill(~mask, 0.0)
        if self.options.normalise:
            values = F.normalize(values, p=1.0, eps=_TINY)
        return values.to(vectors.dtype)

    def _reduced(self, gradient: Tensor, vectors: Tensor) -> Tensor:
        """[B, L, E] -> [B, L]."""
        match self.options.reduce:
            case "l2":
                # squares of a confident model's small gradients underflow in single precision
                return torch.linalg.vector_norm(gradient, dim=-1, dtype=torch.float64)
            case "l1":
                return gradient.abs().sum(-1)
            case "dot-embedding-abs":
                return (gradient * vectors).sum(-1).abs()
            case "signed":
                return (gradient * vectors).sum(-1)


def _passes(model: Model, trace: Trace) -> tuple[Tensor, ...]:
    """Rows in groups that are differentiated together.

    A backward pass needs the results of all layers: where there are several, those of a whole batch take
    much memory.
    """
    rows = torch.arange(len(trace.batch), device=trace.batch.mask.device)
    several = "layers" in model.provides
    return rows.split(
        differentiated_at_once(trace.batch.mask.shape[1], rows.device) if several else len(rows)
    )


_TINY = torch.finfo(torch.float32).tiny  # a smaller sum counts as no gradient
