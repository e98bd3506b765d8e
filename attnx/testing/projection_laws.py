"""The laws of projections."""

from __future__ import annotations

import torch
from torch import Tensor

from ..protocols import AttentionProjection
from .laws import law, require

TOLERANCE = 1e-5


def toy_scores() -> tuple[Tensor, Tensor]:
    """Make scores [6, 5] with masks of several shapes, none of them empty."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(6, 5, generator=generator) * 2
    lengths = torch.tensor([5, 4, 3, 2, 1, 5])
    mask = torch.arange(5)[None] < lengths[:, None]
    mask[5, 1] = False  # a hole, as a special token makes
    return scores, mask


def project(projection: AttentionProjection, scores: Tensor, mask: Tensor) -> Tensor:
    """Apply a projection in evaluation mode."""
    if isinstance(projection, torch.nn.Module):
        projection.eval()
    return projection(scores, mask)


@law("projection")
def simplex(projection: AttentionProjection) -> None:
    """Attention is not negative, sums to 1 over the mask, and is exactly 0 elsewhere."""
    scores, mask = toy_scores()
    a = project(projection, scores, mask)
    require(a.shape == scores.shape, f"scores {tuple(scores.shape)} became {tuple(a.shape)}")
    require(bool((a[~mask] == 0).all()), "attention outside the mask is not exactly 0")
    require(bool((a >= 0).all()), "attention is negative somewhere")
    sums = a.sum(1)
    require(bool(((sums - 1).abs() < TOLERANCE).all()), f"attention sums to {sums.tolist()}")


@law("projection")
def empty_row(projection: AttentionProjection) -> None:
    """A row whose mask is empty gets zeros."""
    scores, mask = toy_scores()
    mask[0] = False
    a = project(projection, scores, mask)
    require(bool((a[0] == 0).all()), f"a fully masked row became {a[0].tolist()}")


@law("projection")
def no_columns(projection: AttentionProjection) -> None:
    """No columns in, no columns out: the only unit of a text may be deleted."""
    scores, mask = toy_scores()
    a = project(projection, scores[:, :0], mask[:, :0])
    require(a.shape == (6, 0), f"scores (6, 0) became {tuple(a.shape)}")


@law("projection")
def masked_scores(projection: AttentionProjection) -> None:
    """Scores outside the mask have no effect."""
    scores, mask = toy_scores()
    a = project(projection, scores, mask)
    b = project(projection, scores.masked_fill(~mask, 1e4), mask)
    require(torch.allclose(a, b, atol=TOLERANCE), "a score outside the mask changed the attention")


@law("projection")
def projection_padding(projection: AttentionProjection) -> None:
    """Padding has no effect on attention."""
    scores, mask = toy_scores()
    a = project(projection, scores, mask)
    padded = project(
        projection, torch.nn.functional.pad(scores, (0, 3)), torch.nn.functional.pad(mask, (0, 3))
    )
    require(torch.allclose(a, padded[:, :5], atol=TOLERANCE), "three more columns changed the attention")


@law("projection")
def projection_rows(projection: AttentionProjection) -> None:
    """The attention of a row is independent of the other rows."""
    scores, mask = toy_scores()
    a = project(projection, scores, mask)
    alone = torch.cat([project(projection, scores[i : i + 1], mask[i : i + 1]) for i in range(len(scores))])
    require(torch.allclose(a, alone, atol=TOLERANCE), "a row alone gets other attention than in a batch")


@law("projection")
def finite_gradient(projection: AttentionProjection) -> None:
    """Gradients are finite."""
    scores, mask = toy_scores()
    mask[0] = False
    scores.requires_grad_()
    weighted = (project(projection, scores, mask) * torch.arange(5.0)).sum()
    if weighted.requires_grad:  # uniform attention depends on no score
        (gradient,) = torch.autograd.grad(weighted, scores, allow_unused=True)
        require(gradient is None or bool(gradient.isfinite().all()), "a gradient is not finite")
