"""Mean contribution of each unit over orders in which units are added to a baseline."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnx.formulas import Randomness, at_once
from attnx.plugin import Model, Trace

from .options import OrderOptions
from .output import Output, baseline_of, values_by_unit
from .presence import Presence

# From a trace [B] and random numbers to the place of each column in K orders of its units [B, K, L].
Orders = Callable[[Trace, Randomness], Tensor]


def mean_contributions(
    orders: Orders, model: Model, trace: Trace, target: Tensor, random: Randomness, options: OrderOptions
) -> Tensor:
    """Return [B, L] the mean over the orders of f(with the units before it, and it) − f(with those before).

    The scores of an example add up to f(all units) − f(baseline), whatever the orders.
    """
    presence = Presence(Output(model, trace, target, options.of), trace, baseline_of(trace, options.baseline))
    place = orders(trace, random.to(f"seed {options.seed}"))  # [B, K, L]
    values = torch.zeros(trace.batch.mask.shape, dtype=torch.float64, device=place.device)  # [B, L]
    columns = place.shape[2]
    for rows in torch.arange(len(place), device=place.device).split(at_once(place[0].numel() * columns)):
        values[rows] = _contributions(presence, trace.batch.mask, rows, place[rows])
    return values_by_unit(values, trace, options.absolute)


def _contributions(presence: Presence, mask: Tensor, rows: Tensor, place: Tensor) -> Tensor:
    """[R, L] of examples `rows` [R] with places [R, K, L]."""
    units = mask[rows]  # [R, L]
    sizes = units.sum(1)  # [R]
    step = torch.arange(place.shape[2] + 1, device=place.device)  # how many units are there
    used = (step <= sizes[:, None])[:, None].expand(-1, place.shape[1], -1)  # [R, K, L + 1]
    example, order, count = used.nonzero(as_tuple=True)  # [S] each
    absent = units[example] & (place[example, order] >= count[:, None])  # [S, L]
    outputs = torch.zeros(used.shape, dtype=torch.float64, device=place.device)  # [R, K, L + 1]
    outputs[example, order, count] = presence(rows[example], absent)
    at = place.clamp_max(place.shape[2] - 1)
    gained = outputs.gather(2, at + 1) - outputs.gather(2, at)  # [R, K, L]
    return gained.mean(1).masked_fill(~units, 0.0)
