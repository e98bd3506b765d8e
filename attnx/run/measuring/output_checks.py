"""Checks of what components return: an output that breaks its contract ends the run with one clear line.

NaN means undefined and is counted elsewhere; a value that is impossible is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ...errors import PluginError
from ...types import Measure, Trace

TOLERANCE = 1e-3  # of sums and bounds, for rounding in single precision


def check_tensor(values: object, shape: tuple[int, ...] | None, what: str) -> None:
    """Refuse anything but a tensor of real numbers of that shape."""
    if not isinstance(values, Tensor):
        raise PluginError(f"{what} as {type(values).__name__}, not as a tensor")
    if values.is_complex() or values.layout is not torch.strided:
        raise PluginError(f"{what} as a tensor of {values.dtype}, {values.layout}, not of real numbers")
    if shape is not None and values.shape != shape:
        raise PluginError(f"{what} of shape {tuple(values.shape)}, not {shape}")


def check_trace(trace: Trace, provides: Sequence[str], title: str) -> None:
    """Refuse logits that are not finite, and attention that is not a distribution over the mask."""
    check_tensor(trace.logits, None, f"{title} returned logits")
    rows, classes = len(trace.batch), int(trace.batch.labels.max()) + 1
    if trace.logits.ndim != 2 or len(trace.logits) != rows or trace.logits.shape[1] < classes:
        found = tuple(trace.logits.shape)
        raise PluginError(f"{title} returned logits of shape {found}, not {rows} x {classes} or more classes")
    if not trace.logits.is_floating_point():
        raise PluginError(f"{title} returned logits of {trace.logits.dtype}, not of a floating point type")
    _require(trace.logits.isfinite().all(1), trace, f"{title} returned logits that are not finite")
    if "attention" not in provides:
        return
    a, mask = trace.attention, trace.batch.mask
    check_tensor(a, tuple(mask.shape), f"{title} returned attention")
    _require(a.isfinite().all(1), trace, f"{title} returned attention that is not finite")
    _require(
        (a.masked_fill(mask, 0.0) == 0).all(1),
        trace,
        f"{title} returned non-zero attention at a special or padding position",
    )
    _require((a >= -TOLERANCE).all(1), trace, f"{title} returned negative attention")
    sums = torch.where(mask.any(1), a.sum(1), 1.0)  # an example without a unit has none
    wrong = (sums - 1).abs() > TOLERANCE
    if wrong.any():
        total = float(sums[wrong][0])
        _require(~wrong, trace, f"{title} returned attention that sums to {total:.3g}, not to 1,")


def check_scores(values: Tensor, trace: Trace, title: str) -> None:
    """Refuse non-zero scores at special and padding positions."""
    outside = values.masked_fill(trace.batch.mask, 0.0)
    _require(
        (outside == 0).all(1), trace, f"{title} returned a non-zero score at a special or padding position"
    )


def check_bounds(values: Tensor, measures: Sequence[Measure], title: str) -> None:
    """Refuse values [..., M] outside the bounds that their measures declare; NaN is allowed."""
    for column, measure in enumerate(measures):
        low, high = measure.bounds
        found = values[..., column].detach().double()
        wrong = (found < low - TOLERANCE) | (found > high + TOLERANCE) | found.isinf()
        if wrong.any():
            raise PluginError(
                f"{title} returned {float(found[wrong][0]):.6g} for '{measure.name}', outside the bounds "
                f"[{low:g}, {high:g}] that it declares"
            )


def _require(kept: Tensor, trace: Trace, otherwise: str) -> None:
    """[B] True where the contract is kept."""
    if not bool(kept.all()):
        row = int((~kept).nonzero()[0, 0])
        raise PluginError(f"{otherwise} for example '{trace.batch.examples[row].id}'")
