import torch
from torch import Tensor

from attnx import Evidence


def shares(evidence: Evidence) -> Tensor:
    """[B, L] the explanation's absolute values as shares of their sum; NaN where the sum is 0."""
    size = evidence.explanation.values.double().abs()  # [B, L], 0 off the mask
    total = size.sum(1, keepdim=True)
    return size / total.masked_fill(total == 0, torch.nan)
