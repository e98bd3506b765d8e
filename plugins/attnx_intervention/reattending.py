"""Attention with units taken out of it, and the outputs under many attentions at once."""

import torch
from torch import Tensor

from attnx import Evidence

WEIGHTS = 2**18  # of one call, over examples, alternatives and columns: bounds the memory it takes


def without(attention: Tensor, removed: Tensor) -> Tensor:
    """[B, K, L] attention [B, L] renormalised over what is not in `removed` [B, K, L].

    Where no weight is left there is nothing to renormalise: 0/0, the weights and all that follows
    from them are NaN.
    """
    left = attention.double()[:, None].masked_fill(removed, 0.0)  # [B, K, L]
    return (left / left.sum(-1, keepdim=True)).to(attention.dtype)


def logits_under(evidence: Evidence, weights: Tensor) -> Tensor:
    """[B, K, C] outputs under attentions [B, K, L], nothing re-encoded."""
    parts = weights.split(alternatives_at_once(weights), dim=1)
    return torch.cat([evidence.model.reattend(evidence.trace, part) for part in parts], dim=1)


def probabilities_under(evidence: Evidence, weights: Tensor) -> Tensor:
    """[B, K, C] in double precision, so that p near 1 still differs."""
    return logits_under(evidence, weights).double().softmax(-1)


def alternatives_at_once(weights: Tensor) -> int:
    """How many alternatives [B, ..., L] go into one call."""
    return max(1, WEIGHTS // max(1, weights.shape[0] * weights.shape[-1]))
