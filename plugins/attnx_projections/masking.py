"""How projections treat a mask and half precision."""

from collections.abc import Callable

import torch
from torch import Tensor


def project_masked(project: Callable[[Tensor], Tensor], scores: Tensor, mask: Tensor) -> Tensor:
    """Apply `project` to the units of each row: 0 off the mask, 0 for a row without units.

    `project` gets `centred` scores and must not depend on a constant added to a whole row. It never gets
    rows without columns, which have no highest score.
    """
    if not scores.shape[-1]:
        return scores
    return torch.where(mask, project(centred(scores, mask)), 0.0).to(scores.dtype)


def centred(scores: Tensor, mask: Tensor) -> Tensor:
    """Return [..., L] scores minus the highest of their row, in float32 or float64; −∞ off the mask.

    A later division or power may then overflow to −∞, a weight of 0, but never to +∞. A row without units
    is zeros, because a row of −∞ would have the gradient NaN.
    """
    z = torch.where(mask, in_full_precision(scores), -torch.inf)
    z = torch.where(mask.any(-1, keepdim=True), z, 0.0)
    return z - z.detach().amax(-1, keepdim=True)  # detached: a constant added to a row changes no weight


def in_full_precision(scores: Tensor) -> Tensor:
    """Return scores in float32, or unchanged if they are float64."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))
