"""What removing units in an order, and keeping them in that order, does to the output."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Batch

from .erasure_curve import set_sizes
from .removals import Draws, Removal


@dataclass(frozen=True, slots=True)
class Outputs:
    """The output for the explained class that effects are measured against."""

    p: Tensor  # [B] on the whole example
    usual: Tensor  # [B] on average over other examples: what is left when nothing speaks for the class

    def fall(self, without: Tensor, rows: Tensor) -> Tensor:
        """[R, D] how far the output falls, at most to its usual value: below it, support is gone already."""
        p, usual = self.p[rows, None], self.usual[rows, None]
        return p - torch.maximum(without, torch.minimum(p, usual))

    def loss(self, kept: Tensor, rows: Tensor) -> Tensor:
        """[R, D] how much of the output is lost, at least 0: more than the whole example gives is enough."""
        p = self.p[rows, None]
        return p - torch.minimum(kept, p)


@dataclass(frozen=True, slots=True)
class OrderValues:
    """Comprehensiveness and sufficiency of orders of each example, for every set size and draw."""

    falls: Tensor  # [K, B, T, D] of K orders
    losses: Tensor  # [K, B, T, D]
    moves: Tensor  # [K, B, T, D] how far the output is from that on the whole example, up or down

    @property
    def comprehensiveness(self) -> Tensor:
        """[B] the mean over orders, set sizes and draws."""
        return self.falls.mean((0, 2, 3))

    @property
    def sufficiency(self) -> Tensor:
        """[B] the mean over orders, set sizes and draws; lower is better."""
        return self.losses.mean((0, 2, 3))

    @property
    def both(self) -> Tensor:
        """[B, T, D] the mean over orders; higher is better: removing the top units matters, keeping them is
        enough."""
        return (self.falls - self.losses).mean(0)

    def __getitem__(self, orders: slice) -> OrderValues:
        return OrderValues(self.falls[orders], self.losses[orders], self.moves[orders])


def place_in_order(scores: Tensor, batch: Batch, random: Randomness) -> Tensor:
    """[B, L] the place of each column when units are sorted by score [B, L], highest first.

    Equal scores are put in a random order that belongs to the units; columns off the mask come last.
    """
    mask = batch.mask
    draws = random.to("ties").uniform(batch)[:, 0]  # [B, L]
    shuffled = draws.masked_fill(~mask, torch.inf).argsort(1)
    values = scores.double().masked_fill(~mask, -torch.inf).gather(1, shuffled)
    return shuffled.gather(1, values.argsort(dim=1, descending=True, stable=True)).argsort(1)


def random_places(batch: Batch, random: Randomness, orders: int) -> list[Tensor]:
    """[B, L] each: the place of each column in several random orders.

    The second and later orders turn the first one on by equal parts of its length, so that every unit is in
    early and late places about equally often: their mean is less noisy than that of independent orders.
    """
    scores = torch.zeros(batch.mask.shape, dtype=torch.float64, device=batch.mask.device)
    place = place_in_order(scores, batch, random.to("random orders"))  # [B, L]
    units = batch.mask.sum(1, keepdim=True).clamp_min(1)  # [B, 1]
    turned = [(place + number * units // orders) % units for number in range(orders)]
    return [torch.where(batch.mask, found, place) for found in turned]


def values_of(
    places: Tensor, removal: Removal, batch: Batch, outputs: Outputs, bins: tuple[float, ...], draws: Draws
) -> OrderValues:
    """Remove and keep the first units of K orders, given by the place of each column [K, B, L].

    All orders are asked for at once: those of one alone would be small passes through the model.
    """
    mask = batch.mask
    sizes = set_sizes(mask, bins)  # [B, T]
    top = (places[:, :, None] < sizes[..., None]) & mask[:, None]  # [K, B, T, L]
    kept = mask[:, None] & ~top
    one = torch.arange(len(mask), device=mask.device)[:, None].expand(sizes.shape)  # [B, T]
    rows = one.expand(2, len(places), *sizes.shape).flatten()  # [2·K·B·T]
    found = removal.probabilities(rows, torch.stack([top, kept]).flatten(0, 3), draws)
    half = len(rows) // 2
    rows, without, left = rows[:half], found[:half], found[half:]
    shape = (len(places), *sizes.shape, len(draws))
    return OrderValues(
        falls=outputs.fall(without, rows).view(shape),
        losses=outputs.loss(left, rows).view(shape),
        moves=(outputs.p[rows, None] - without).abs().view(shape),
    )
