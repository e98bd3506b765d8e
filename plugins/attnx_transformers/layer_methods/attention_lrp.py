import torch
from torch import Tensor

from attnx.formulas import Randomness, class_output, differentiated_at_once, similar_lengths
from attnx.plugin import ImportanceMethod, Model, Trace

from ..options import AttentionLrpOptions
from .relevance_rules import RelevanceRules


class AttentionLrp(ImportanceMethod):
    """AttnLRP: relevance of the class's logit, propagated layer by layer down to the embeddings.

    Gradient times embedding, ∂z_c/∂X_i · X_i, with local gradients changed so that relevance is shared out:
    the standard deviation of a normalisation is a constant; an activation f has the slope f(x)/x; a product
    of two tensors that both depend on the input (attention scores, attention times values, gates) gives half
    to each factor; softmax keeps its gradient. attention=fixed takes attention weights as constants, so that
    values get all. Signed: positive scores support the class. Costs one forward and one backward pass.
    Biases, positions and the softmax take up a part, so scores add up to the logit only without these.
    """

    needs = ("gradient", "layers")
    passes = 3  # forward and backward

    def __init__(self, options: AttentionLrpOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        values = torch.zeros_like(trace.attention)  # [B, L]
        size = differentiated_at_once(1, trace.embeddings.device)
        rules = RelevanceRules(model, fixed=self.options.attention == "fixed")
        for rows in similar_lengths(trace.batch.lengths, size):
            part = trace.take(rows)
            embeddings = part.embeddings.detach().requires_grad_()  # [R, l, E]
            with rules:
                logits = model.run(part.batch, embeddings).logits  # [R, C]
            output = class_output(logits, target[rows], "logit").sum()  # examples do not see each other
            (gradient,) = torch.autograd.grad(output, embeddings)
            values[rows, : embeddings.shape[1]] = (gradient * embeddings).sum(-1).detach()
        values = values.masked_fill(~trace.batch.mask, 0.0)
        return values.abs() if self.options.absolute else values
