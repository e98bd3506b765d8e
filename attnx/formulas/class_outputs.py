"""The one number of a classifier's output that an explanation explains."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F


def class_output(logits: Tensor, target: Tensor, of: Literal["probability", "logit", "loss"]) -> Tensor:
    """Give the output for one class.

    Args:
        logits: the logits [B, C].
        target: the class of every example [B].
        of: which output: the probability, the logit, or the loss −log p.

    Returns:
        One number per example [B]; its gradient does not round to 0 as the probability rounds to 1.
    """
    column = target[:, None]
    logit = logits.gather(1, column)[:, 0]
    if of == "logit":
        return logit
    # p = σ(margin): unlike softmax's, this gradient does not round to 0 as p rounds to 1
    log_p = F.logsigmoid(logit - logits.scatter(1, column, -torch.inf).logsumexp(1))
    return log_p.exp() if of == "probability" else -log_p
