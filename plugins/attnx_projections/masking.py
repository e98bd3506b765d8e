"""What projections do with a mask and with half precision."""

from collections.abc import Callable

import torch
from torch import Tensor


def project_masked(project: Callable[[Tensor], Tensor], scores: Tensor, mask: Tensor) -> Tensor:
    """`project` applied to each row's units alone: 0 off the mask, 0 for a row without units.

    `project` sees `centred` scores, and must not mind what was taken off all of a row. It never sees
    rows without columns, which have no highest score.
    """
    if not scores.shape[-1]:
        return scores
    return torch.where(mask, project(centred(scores, mask)), 0.0).to(scores.dtype)


def centred(scores: Tensor, mask: Tensor) -> Tensor:
    """[..., L] scores less the highest of their row, in float32 or float64; −∞ off the mask.

    What is divided or raised to a power afterwards may then overflow to −∞, a weight of 0, and never
    to +∞. A row without units is zeros: a row of −∞ would have NaN for a gradient.
    """
    z = torch.where(mask, in_full_precision(scores), -torch.inf)
    z = torch.where(mask.any(-1, keepdim=True), z, 0.0)
    return z - z.detach().amax(-1, keepdim=True)  # detached: moving all of a row moves no weight


def in_full_precision(scores: Tensor) -> Tensor:
    """Scores in float32, or in float64 if they are."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))
