from __future__ import annotations

import torch
from torch import Tensor

from attnx import Evidence, Measure, Metric, ranked

from .options import PlausibilityOptions
from .spans import span_f1


class Plausibility(Metric):
    """How well the explanation finds the units that people marked.

    `auprc` = Σ_t (R_t − R_{t−1}) P_t is the average precision of the scores, with a threshold t at every
    distinct score. It is scikit-learn's; ERASER's own figure joins the points by straight lines, which
    is too optimistic. It is 1 for any scores where everything was marked.

    For the other two, k units of the highest score are chosen: as many as were marked, or a fixed
    share of all units. ERASER takes the share that rationales have in the dataset. Ties are broken at
    random, so that equal scores choose by chance and not from the beginning. `token-f1` is F1 of the
    chosen against the marked units. `iou-f1` is F1 of their spans, which are unbroken runs: two spans
    match when their intersection is at least half of their union.

    Scores keep their sign: a unit that speaks against the prediction is chosen last. F1 is taken of
    each example and then averaged. Undefined where no unit is marked, where it is not known which
    are, and where a score is not finite.
    """

    needs = ("rationale",)
    family = "ground-truth"
    measures = (
        Measure("auprc", "up", (0, 1)),
        Measure("token-f1", "up", (0, 1)),
        Measure("iou-f1", "up", (0, 1)),
    )

    def __init__(self, options: PlausibilityOptions) -> None:
        self.options = options

    def __call__(self, evidence: Evidence) -> Tensor:
        batch = evidence.trace.batch
        scores = evidence.explanation.values.double()  # [B, L]
        marked = (batch.rationale == 1) & batch.mask  # [B, L], False where not known
        chosen = chosen_units(evidence, self._size(marked, batch.mask))
        values = torch.stack(
            [
                average_precision(scores, marked, batch.mask),
                2 * (chosen & marked).sum(1) / (chosen.sum(1) + marked.sum(1)).double(),
                span_f1(chosen, marked, self.options.overlap),
            ],
            dim=1,
        )  # [B, 3]
        defined = marked.any(1) & (scores.isfinite() | ~batch.mask).all(1)
        return values.masked_fill(~defined[:, None], torch.nan)

    def _size(self, marked: Tensor, mask: Tensor) -> Tensor:
        """[B] k: the number of units that are chosen."""
        if not self.options.fraction:
            return marked.sum(1)
        units = mask.sum(1)
        nearest = (units * self.options.fraction + 0.5).floor().long()
        return nearest.clamp_min(1).minimum(units)


def average_precision(scores: Tensor, marked: Tensor, mask: Tensor) -> Tensor:
    """[B] average precision of scores [B, L]; NaN where nothing is marked.

    Every marked unit earns the precision among all units that score at least as much.
    """
    ranked, order = scores.masked_fill(~mask, -torch.inf).sort(dim=1, descending=True)
    hit = marked.gather(1, order)  # [B, L]
    places = torch.arange(scores.shape[1], device=scores.device).expand_as(order)
    last = torch.ones_like(hit)  # of a tie
    last[:, :-1] = ranked[:, :-1] != ranked[:, 1:]
    end = places.masked_fill(~last, scores.shape[1]).flip(1).cummin(1).values.flip(1)  # [B, L] of the tie
    precision = hit.cumsum(1).gather(1, end) / (end + 1).double()  # [B, L]
    return (precision * hit).sum(1) / hit.sum(1)


def chosen_units(evidence: Evidence, size: Tensor) -> Tensor:
    """[B, L] the `size` [B] units that the explanation puts first."""
    mask = evidence.trace.batch.mask
    first = torch.arange(mask.shape[1], device=mask.device) < size[:, None]  # [B, L] by rank
    return torch.zeros_like(mask).scatter(1, ranked(evidence), first) & mask
