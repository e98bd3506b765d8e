"""Sparsemax and 1.5-entmax against the `entmax` package: forward and backward, masked.

The gain is in the sort that is not done, so it grows with the number of scores; small batches are
bound by the cost of calling torch at all.
"""

from __future__ import annotations

from collections.abc import Callable

import entmax
import torch
from torch import Tensor

from attnx_projections.entmax import Entmax
from attnx_projections.options import EntmaxOptions
from attnx_projections.sparsemax import Sparsemax

from .timing import Row, best_of

SIZES = ((4096, 20), (512, 180), (64, 2000))  # rows and units: about 100 000 scores each
REPEATS = 25
TOLERANCE = 1e-6

Projection = Callable[[Tensor, Tensor], Tensor]
Pass = Callable[[], tuple[Tensor, Tensor]]


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of ours and of the peer, best of several, and whether both computed the same.

    Our values and gradients in float32 are held against the peer's in float64: in float32 the
    peer's own gradient of 1.5-entmax is off by more than the tolerance.
    """
    generator = torch.Generator().manual_seed(0)
    measured = []
    for name, ours, peer in _contestants():
        for batch, units in ((4, 5),) if tiny else SIZES:
            scores = 2 * torch.randn(batch, units, generator=generator)
            lengths = torch.randint(units * 3 // 4, units + 1, (batch, 1), generator=generator)
            mask = torch.arange(units) < lengths
            gradient = torch.randn(batch, units, generator=generator)
            contestants = {"ours": ours, "peer": peer}
            best = best_of(
                REPEATS, {who: _passes(run, scores, mask, gradient) for who, run in contestants.items()}
            )
            exact = _passes(peer, scores.double(), mask, gradient.double())()
            pairs = zip(best["ours"].result, exact, strict=True)
            difference = max(float((a - b).abs().max()) for a, b in pairs)
            target = 1.3 if name == "sparsemax" and units < 180 else 2.0
            seconds = (best["ours"].seconds, best["peer"].seconds)
            measured.append(Row(f"{name}, {batch} x {units}", *seconds, target, difference < TOLERANCE))
    return measured


def _contestants() -> list[tuple[str, Projection, Projection]]:
    return [
        ("sparsemax", Sparsemax(), lambda z, mask: entmax.sparsemax(z.masked_fill(~mask, -torch.inf), -1)),
        (
            "1.5-entmax",
            Entmax(EntmaxOptions()),
            lambda z, mask: entmax.entmax15(z.masked_fill(~mask, -torch.inf), -1),
        ),
    ]


def _passes(projection: Projection, scores: Tensor, mask: Tensor, gradient: Tensor) -> Pass:
    """One forward and backward pass of a projection: attention and the gradient of the scores."""
    leaf = scores.clone().requires_grad_()

    def run() -> tuple[Tensor, Tensor]:
        attention = projection(leaf, mask)
        return attention.detach(), torch.autograd.grad(attention, leaf, gradient)[0]

    return run
