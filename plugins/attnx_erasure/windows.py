"""Windows of neighbouring units that are left out together."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Windows:
    """All windows of neighbouring units of a batch; no window holds all units of an example."""

    rows: Tensor  # [R] the example of each window
    gone: Tensor  # [R, L] its units
    units: Tensor  # [B, L] the mask

    @classmethod
    def of(cls, mask: Tensor, width: int) -> Windows:
        """Windows of that many units, or of all but one where an example has too few."""
        count = mask.sum(1, keepdim=True)  # [B, 1]
        wide = (count - 1).clamp(0, width)  # [B, 1] units of a window
        number = mask.cumsum(1) - 1  # [B, L] which unit of its example
        rows, first = (mask & (number + wide <= count) & (wide > 0)).nonzero(as_tuple=True)  # [R] each
        start = number[rows, first][:, None]
        gone = mask[rows] & (number[rows] >= start) & (number[rows] < start + wide[rows])
        return cls(rows, gone, mask)

    def mean_by_unit(self, values: Tensor) -> Tensor:
        """[B, L, ...] the mean of values [R, ...] over the windows that hold each unit; 0 where none does."""
        inside = self.gone.to(values)  # [R, L]
        flat = values.flatten(1) if values.ndim > 1 else values[:, None]  # [R, C]
        each = (inside[..., None] * flat[:, None]).flatten(1)  # [R, L·C]
        total = each.new_zeros(len(self.units), each.shape[1]).index_add(0, self.rows, each)
        holds = inside.new_zeros(self.units.shape).index_add(0, self.rows, inside)  # [B, L]
        mean = total.view(*self.units.shape, -1) / holds.clamp_min(1)[..., None]
        return mean.view(*self.units.shape, *values.shape[1:])
