"""The one number of a classifier's output that an explanation explains."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F


def class_output(logits: Tensor, target: Tensor, of: Literal["probability", "logit", "loss"]) -> Tensor:
    """[B] the probability, logit or loss of the target class [B], of logits [B, C]."""
    column = target[:, None]
    logit = logits.gather(1, column)[:, 0]
    if of == "logit":
        return logit
    # p = σ(margin): unlike softmax's, this gradient does not round to 0 as p rounds to 1
    log_p = F.logsigmoid(logit - logits.scatter(1, column, -torch.inf).logsumexp(1))
    return log_p.exp() if of == "probability" else -log_p
