"""What projections do with a mask and with half precision."""

from collections.abc import Callable

import torch
from torch import Tensor


def project_masked(project: Callable[[Tensor], Tensor], scores: Tensor, mask: Tensor) -> Tensor:
    """`project` applied to each row's units alone: 0 off the mask, 0 for a row without units.

    `project` sees float32 or float64 scores [..., L] that are −∞ off the mask. A row without units
    is shown to it as zeros: a row of −∞ would have NaN for a gradient.
    """
    z = torch.where(mask, in_full_precision(scores), -torch.inf)
    z = torch.where(mask.any(-1, keepdim=True), z, 0.0)
    return torch.where(mask, project(z), 0.0).to(scores.dtype)


def in_full_precision(scores: Tensor) -> Tensor:
    """Scores in float32, or in float64 if they are."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))
