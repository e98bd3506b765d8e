"""Mutual information of two labellings of the same examples."""

from __future__ import annotations

import torch
from torch import Tensor


def mutual_information(x: Tensor, y: Tensor) -> Tensor:
    """[P] plug-in estimates of I(X; Y) = H(X) + H(Y) − H(X, Y) in nats.

    Labels x and y, numbers from 0, are [P, n], or [1, n] where one serves all.
    """
    x, y = torch.broadcast_tensors(x, y)
    shape = (len(x), int(x.max()) + 1, int(y.max()) + 1)
    case = torch.arange(len(x), device=x.device)[:, None]  # [P, 1]
    cell = (case * shape[1] + x) * shape[2] + y  # [P, n]
    counts = cell.flatten().bincount(minlength=shape[0] * shape[1] * shape[2])
    joint = counts.view(shape).double() / x.shape[1]  # [P, X, Y]
    h_x, h_y = (torch.special.entr(joint.sum(dim)).sum(1) for dim in (2, 1))
    return (h_x + h_y - torch.special.entr(joint).sum((1, 2))).clamp_min(0)  # rounding


def shuffled(labels: Tensor, times: int, generator: torch.Generator) -> Tensor:
    """[times, n] the labels [n] in random orders."""
    return torch.stack([labels[torch.randperm(len(labels), generator=generator)] for _ in range(times)])
