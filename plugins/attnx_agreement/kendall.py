from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .pairs import Booleans, Floats, count_pairs
from .significance import p_values

LEVEL = 0.05


class Kendall(Metric):
    """Kendall's rank correlation (τ-b) between explanation and reference.

    `tau` is τ_b = (P − Q) / √((N − T_x)(N − T_y)) over the N pairs of units (words, image patches, ...):
    P pairs are ordered alike by both scores, Q in opposite ways, T_x and T_y pairs are tied in one of
    them. The range is −1 to 1; higher means better agreement. `significant` is 1 if τ_b > 0 and p ≤ .05
    in a test of no association, `significant-negative` is 1 if τ_b < 0 and p ≤ .05. `ceiling` is the
    largest τ_b that the ties allow: the same two sets of values, both sorted. Weights that are mostly 0
    cannot reach 1. Scores are tied only if they are exactly equal. Undefined for examples with fewer than
    two units, and if either score is constant or not finite.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    cost = "nothing but the reference: no pass through the model"
    cannot = "which of the two is right if they disagree, nor that they are right if they agree"
    measures = (
        Measure("tau", "up", (-1, 1)),
        Measure("significant", "up", (0, 1)),
        Measure("significant-negative", "down", (0, 1)),
        Measure("ceiling", "none", (0, 1)),
    )

    def __call__(self, evidence: Evidence) -> Tensor:
        scores = (evidence.explanation.values, evidence.reference.values)
        x, y = (values.double().cpu().numpy() for values in scores)  # [B, L]
        columns = agreement(x, y, evidence.trace.batch.mask.cpu().numpy())
        return torch.from_numpy(np.stack(columns, axis=1))  # [B, 4]


def agreement(x: Floats, y: Floats, mask: Booleans) -> tuple[Floats, Floats, Floats, Floats]:
    """Return τ_b, whether it is significantly above 0 and below 0, and the ceiling, each [B]; mask [B, L]."""
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        finite = (np.isfinite(x) & np.isfinite(y)) | ~mask
        mask = mask & finite.all(1, keepdims=True)
    pairs = count_pairs(x, y, mask)
    root_x, root_y = np.sqrt(pairs.total - pairs.tied)
    with np.errstate(invalid="ignore"):  # 0/0 if x or y ties all pairs
        scaled = pairs.balance / root_x / root_y
    tau, ceiling = np.maximum(np.minimum(scaled, 1), -1)  # rounding
    unlikely = np.where(np.isnan(tau), np.nan, p_values(pairs) <= LEVEL)
    return tau, unlikely * (tau > 0), unlikely * (tau < 0), ceiling
