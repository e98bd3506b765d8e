"""The outputs under many attentions at once."""

import torch
from torch import Tensor

from attnx.formulas import at_once, attention_without
from attnx.plugin import Evidence


def without(evidence: Evidence, removed: Tensor) -> Tensor:
    """[B, K, L] the model's attention without the units in `removed` [B, K, L]."""
    return attention_without(evidence.trace.attention, evidence.trace.batch.mask, removed)


def logits_under(evidence: Evidence, weights: Tensor) -> Tensor:
    """[B, K, C] outputs under attentions [B, K, L], nothing re-encoded."""
    parts = weights.split(alternatives_at_once(weights), dim=1)
    return torch.cat([evidence.model.reattend(evidence.trace, part) for part in parts], dim=1)


def probabilities_under(evidence: Evidence, weights: Tensor) -> Tensor:
    """Return [B, K, C] probabilities in double precision, so that small changes near p = 1 remain."""
    return logits_under(evidence, weights).double().softmax(-1)


def alternatives_at_once(weights: Tensor) -> int:
    """How many alternatives [B, ..., L] go into one call."""
    return at_once(weights.shape[0] * weights.shape[-1])
