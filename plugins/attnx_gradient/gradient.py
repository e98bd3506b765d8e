import torch
from torch import Tensor
from torch.nn import functional as F

from attnx import ImportanceMethod, Model, Trace

from .options import GradientOptions


class Gradient(ImportanceMethod):
    """Size of the gradient of the predicted class with respect to each unit's embedding.

    g_ŷ(x_i) = ‖∂p_ŷ/∂X_i‖₂ / Σ_k ‖∂p_ŷ/∂X_k‖₂ by default; a row without any gradient stays 0.
    Jain and Wallace: reduce=dot-embedding-abs, attention=fixed.
    """

    needs = ("gradient",)

    def __init__(self, options: GradientOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor) -> Tensor:
        embeddings = trace.embeddings.detach().requires_grad_()  # [B, L, E]
        held = trace.attention if self.options.attention == "fixed" else None
        logits = model.run(trace.batch, embeddings, attention=held).logits  # [B, C]
        # examples do not see each other, so the gradient of the sum holds the gradient of each
        (gradient,) = torch.autograd.grad(self._output(logits, target).sum(), embeddings)
        values = self._reduced(gradient, trace.embeddings.detach())  # [B, L]
        values = values.masked_fill(~trace.batch.mask, 0.0)
        if self.options.normalise:
            values = F.normalize(values, p=1.0, eps=_TINY)
        return values.to(trace.embeddings.dtype)

    def _output(self, logits: Tensor, target: Tensor) -> Tensor:
        """[B] the probability, logit or loss of the target class."""
        column = target[:, None]
        logit = logits.gather(1, column)[:, 0]
        if self.options.of == "logit":
            return logit
        # p = σ(margin): unlike softmax's, this gradient does not round to 0 as p rounds to 1
        margin = logit - logits.scatter(1, column, -torch.inf).logsumexp(1)
        log_p = F.logsigmoid(margin)
        return log_p.exp() if self.options.of == "probability" else -log_p

    def _reduced(self, gradient: Tensor, embeddings: Tensor) -> Tensor:
        """[B, L, E] -> [B, L]."""
        match self.options.reduce:
            case "l2":
                # squares of a confident model's small gradients underflow in single precision
                return torch.linalg.vector_norm(gradient, dim=-1, dtype=torch.float64)
            case "l1":
                return gradient.abs().sum(-1)
            case "dot-embedding-abs":
                return (gradient * embeddings).sum(-1).abs()
            case "signed":
                return (gradient * embeddings).sum(-1)


_TINY = torch.finfo(torch.float32).tiny  # a sum below this is no gradient at all
