"""Sparsemax and 1.5-entmax against the `entmax` package: forward and backward, masked.

The gain is in the sort that is not done, so it grows with the number of scores; small batches are
bound by the cost of calling torch at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import entmax
import torch
from torch import Tensor

from attnx_projections.entmax import Entmax
from attnx_projections.options import EntmaxOptions
from attnx_projections.sparsemax import Sparsemax

SIZES = ((4096, 20), (512, 180), (64, 2000))  # rows and units: about 100 000 scores each
REPEATS = 25
TOLERANCE = 1e-6

Projection = Callable[[Tensor, Tensor], Tensor]
Pass = Callable[[], tuple[Tensor, Tensor]]


def rows() -> list[dict[str, Any]]:
    """Seconds of ours and of the peer, best of several, and whether both computed the same.

    Our values and gradients in float32 are held against the peer's in float64: in float32 the
    peer's own gradient of 1.5-entmax is off by more than the tolerance.
    """
    generator = torch.Generator().manual_seed(0)
    measured = []
    for name, ours, peer in _contestants():
        for batch, units in SIZES:
            scores = 2 * torch.randn(batch, units, generator=generator)
            lengths = torch.randint(units * 3 // 4, units + 1, (batch, 1), generator=generator)
            mask = torch.arange(units) < lengths
            gradient = torch.randn(batch, units, generator=generator)
            passes = [_passes(projection, scores, mask, gradient) for projection in (ours, peer)]
            our_time, peer_time = _best_times(passes)
            exact = _passes(peer, scores.double(), mask, gradient.double())
            difference = max(float((a - b).abs().max()) for a, b in zip(passes[0](), exact(), strict=True))
            measured.append(
                {
                    "work": f"{name}, {batch} x {units}",
                    "ours": our_time,
                    "peer": peer_time,
                    "ratio": peer_time / our_time,
                    "target": 1.3 if name == "sparsemax" and units < 180 else 2.0,
                    "equal": difference < TOLERANCE,
                }
            )
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


def _best_times(passes: list[Pass]) -> list[float]:
    """The fastest of several runs of each, taken in turns so that a busy moment hits all alike."""
    best = [float("inf")] * len(passes)
    for _ in range(REPEATS):
        for index, run in enumerate(passes):
            start = time.perf_counter()
            run()
            best[index] = min(best[index], time.perf_counter() - start)
    return best


if __name__ == "__main__":
    for row in rows():
        verdict = "equal" if row["equal"] else "DIFFERENT"
        print(
            f"{row['work']:24} ours {1e3 * row['ours']:7.3f} ms  entmax {1e3 * row['peer']:7.3f} ms  "
            f"{row['ratio']:5.1f} x (target {row['target']})  {verdict}"
        )
