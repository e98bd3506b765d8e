"""What a projection must do with scores and a mask."""

from __future__ import annotations

import torch
from torch import Tensor

from ..protocols import AttentionProjection
from .laws import law, require

TOLERANCE = 1e-5


def toy_scores() -> tuple[Tensor, Tensor]:
    """Scores [6, 5] with masks of several shapes, none of them empty."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(6, 5, generator=generator) * 2
    lengths = torch.tensor([5, 4, 3, 2, 1, 5])
    mask = torch.arange(5)[None] < lengths[:, None]
    mask[5, 1] = False  # a hole, as a special token makes
    return scores, mask


def project(projection: AttentionProjection, scores: Tensor, mask: Tensor) -> Tensor:
    if isinstance(projection, torch.nn.Module):
        projection.eval()
    return projection(scores, mask)


@law("projection", "attention is on the simplex over the mask and exactly 0 off it")
def simplex(projection: AttentionProjection) -> None:
    scores, mask = toy_scores()
    a = project(projection, scores, mask)
    require(a.shape == scores.shape, f"scores {tuple(scores.shape)} became {tuple(a.shape)}")
    require(bool((a[~mask] == 0).all()), "attention off the mask is not exactly 0")
    require(bool((a >= 0).all()), "attention is negative somewhere")
    sums = a.sum(1)
    require(bool(((sums - 1).abs() < TOLERANCE).all()), f"attention sums to {sums.tolist()}")


@law("projection", "a row with nothing to attend to gets zeros")
def empty_row(projection: AttentionProjection) -> None:
    scores, mask = toy_scores()
    mask[0] = False
    a = project(projection, scores, mask)
    require(bool((a[0] == 0).all()), f"a fully masked row became {a[0].tolist()}")


@law("projection", "rows without columns, of texts that have lost their only unit, keep that shape")
def no_columns(projection: AttentionProjection) -> None:
    scores, mask = toy_scores()
    a = project(projection, scores[:, :0], mask[:, :0])
    require(a.shape == (6, 0), f"scores (6, 0) became {tuple(a.shape)}")


@law("projection", "scores off the mask are never looked at")
def masked_scores(projection: AttentionProjection) -> None:
    scores, mask = toy_scores()
    a = project(projection, scores, mask)
    b = project(projection, scores.masked_fill(~mask, 1e4), mask)
    require(torch.allclose(a, b, atol=TOLERANCE), "a score off the mask changed the attention")


@law("projection", "padding never changes attention")
def projection_padding(projection: AttentionProjection) -> None:
    scores, mask = toy_scores()
    a = project(projection, scores, mask)
    padded = project(
        projection, torch.nn.functional.pad(scores, (0, 3)), torch.nn.functional.pad(mask, (0, 3))
    )
    require(torch.allclose(a, padded[:, :5], atol=TOLERANCE), "three more columns changed the attention")


@law("projection", "a row's attention does not depend on the other rows")
def projection_rows(projection: AttentionProjection) -> None:
    scores, mask = toy_scores()
    a = project(projection, scores, mask)
    alone = torch.cat([project(projection, scores[i : i + 1], mask[i : i + 1]) for i in range(len(scores))])
    require(torch.allclose(a, alone, atol=TOLERANCE), "a row alone gets another attention than in a batch")


@law("projection", "gradients are finite")
def finite_gradient(projection: AttentionProjection) -> None:
    scores, mask = toy_scores()
    mask[0] = False
    scores.requires_grad_()
    weighted = (project(projection, scores, mask) * torch.arange(5.0)).sum()
    if weighted.requires_grad:  # uniform attention depends on no score
        (gradient,) = torch.autograd.grad(weighted, scores, allow_unused=True)
        require(gradient is None or bool(gradient.isfinite().all()), "a gradient is not finite")
