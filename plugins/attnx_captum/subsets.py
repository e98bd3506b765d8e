"""Scores from random subsets of an example's units: a linear model of the output is fitted to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Model, Trace

from .options import SubsetOptions
from .output import Output, baseline_of, values_by_unit
from .presence import Presence
from .regression import Regression, fitted_weights

TOGETHER = 4  # examples whose subsets go through the model together


@dataclass(frozen=True, slots=True)
class Subsets:
    """Subsets of the n units of an example, and how much each counts in the regression."""

    present: Tensor  # [S, n] 1 where the unit is there
    weights: Tensor  # [S]


# From numbers in [0, 1), one for every subset and unit [S, n] and one for every subset [S].
Draw = Callable[[Tensor, Tensor], Subsets]


def subset_scores(
    draw: Draw,
    regression: Regression,
    penalty: float,
    model: Model,
    trace: Trace,
    target: Tensor,
    random: Randomness,
    options: SubsetOptions,
) -> Tensor:
    """Return [B, L] the weights of a linear model of the output, fitted for each example.

    The draws depend on the example only.
    """
    presence = Presence(Output(model, trace, target, options.of), trace, baseline_of(trace, options.baseline))
    values = torch.zeros_like(trace.attention)  # [B, L]
    for rows in trace.batch.lengths.argsort(stable=True).split(TOGETHER):
        drawn = [_drawn(draw, trace, row, random, options) for row in rows.tolist()]
        at = torch.cat([row.expand(len(subsets.present)) for row, subsets in zip(rows, drawn, strict=True)])
        absent = torch.cat(
            [_absent(trace.batch.mask[row], subsets) for row, subsets in zip(rows, drawn, strict=True)]
        )
        outputs = presence(at, absent).split([len(subsets.present) for subsets in drawn])
        for row, subsets, found in zip(rows, drawn, outputs, strict=True):
            units = trace.batch.mask[row].nonzero()[:, 0]
            if len(units) == 1:  # nothing to fit: the unit causes the whole change
                values[row, units] = (found[0] - found[1]).to(values)
            elif len(units) > 1:
                values[row, units] = _fitted(subsets, found, regression, penalty).to(values)
    return values_by_unit(values, trace, options.absolute)


def _drawn(draw: Draw, trace: Trace, row: int, random: Randomness, options: SubsetOptions) -> Subsets:
    batch = trace.batch.take(torch.tensor([row], device=trace.batch.mask.device))
    units = batch.mask[0].nonzero()[:, 0]
    if len(units) < 2:  # with the unit, and without it
        return Subsets(torch.eye(2, len(units), device=units.device), torch.ones(2, device=units.device))
    size = max(options.samples, 2 * len(units) + 2)
    own = random.to(f"seed {options.seed}")
    u = own.uniform(batch, 2 * size)[0][:, units]  # [2S, n]
    return draw(u[:size], u[size:, 0])


def _absent(mask: Tensor, subsets: Subsets) -> Tensor:
    """[S, L] which columns of an example with units on a mask [L] are absent."""
    absent = torch.zeros(len(subsets.present), len(mask), dtype=torch.bool, device=mask.device)
    absent[:, mask] = subsets.present == 0
    return absent


def _fitted(subsets: Subsets, outputs: Tensor, regression: Regression, penalty: float) -> Tensor:
    """[n] the weights of the units."""
    present, y, counts = (
        tensor.double().cpu().numpy() for tensor in (subsets.present, outputs, subsets.weights)
    )
    return torch.from_numpy(fitted_weights(present, y, counts, regression, penalty))
