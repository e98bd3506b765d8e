from __future__ import annotations

import torch
from torch import Tensor

from attnx.formulas import ranked
from attnx.plugin import Conclusion, Corpus, Evidence, Measure, SplitMetric

from .options import EraserOptions
from .plausibility import areas, share_of, token_f1
from .spans import count_spans


class Eraser(SplitMetric):
    """Agreement with the units that people marked, computed as in the ERASER benchmark.

    The benchmark's numbers for a whole split, to compare with published results. The range is 0 to 1.

    `auprc` = Σ_t (R_t − R_{t−1}) (P_t + P_{t−1}) / 2, with precision P, recall R, a threshold t at every
    distinct score and P_0 = 1, averaged over examples. Joining the points by straight lines favours ties:
    if 1 of 4 units (words, image patches, ...) is marked, equal scores get .625. So it is only for
    comparison with published values and cannot tell which explanation is better.

    For the other two measures, the same share of units with the highest scores is chosen in every
    example: `share`, the mean share that is marked in this split, or a fixed share. `token-f1` is the
    mean over examples of the F1 of chosen against marked units; higher is better. `iou-f1` is the F1 of
    the mean precision and the mean recall of spans (runs of consecutive units); two spans match if their
    intersection is at least half of their union; higher is better.

    Examples are left out if no unit is marked, if the marks are unknown, or if a score is not finite;
    everything is undefined if no example remains.
    """

    needs = ("rationale",)
    family = "ground-truth"
    cost = "nothing: no pass through the model"
    cannot = "whether the model uses these units; and `auprc` favours ties, so it does not order explanations"
    measures = (
        Measure("auprc", "none", (0, 1)),
        Measure("token-f1", "up", (0, 1)),
        Measure("iou-f1", "up", (0, 1)),
        Measure("share", "none", (0, 1)),
    )

    def __init__(self, options: EraserOptions) -> None:
        self.options = options

    def keep(self, evidence: Evidence, corpus: Corpus) -> tuple[Tensor, ...]:
        """Areas [B], NaN where undefined; rank [B, U] and marks [B, U] of units; their number [B]."""
        mask = evidence.trace.batch.mask
        marked = (evidence.trace.batch.rationale == 1) & mask  # [B, L], False where not known
        scores = evidence.explanation.values.double()
        finite = (scores.isfinite() | ~mask).all(1)
        area = areas(scores, marked, mask)[0].masked_fill(~finite, torch.nan)
        most = int(corpus.unit_counts.max())
        # move the units of a row to its front, in order: every batch has the columns of the longest text
        unit = (mask.cumsum(1) - 1).masked_fill(~mask, most)  # [B, L]
        by_unit = mask.new_zeros((len(mask), most + 1), dtype=torch.long)
        rank = by_unit.scatter(1, unit, ranked(evidence).argsort(1)).masked_fill(
            torch.arange(most + 1, device=mask.device) >= mask.sum(1, keepdim=True), most
        )
        marks = by_unit.scatter(1, unit, marked.long()).bool()
        return area, rank[:, :most], marks[:, :most], mask.sum(1)

    def conclude(self, kept: tuple[Tensor, ...], corpus: Corpus) -> Conclusion:
        area, rank, marked, units = (tensor[~kept[0].isnan()] for tensor in kept)
        share = self.options.fraction or float((marked.sum(1) / units.double()).mean())
        if not len(area):
            return Conclusion(torch.full((len(self.measures),), torch.nan, dtype=torch.float64))
        chosen = rank < share_of(units, share)[:, None]  # [n, U]
        matches, of_chosen, of_marked = count_spans(chosen, marked, self.options.overlap)
        precision, recall = (matches / of_chosen).mean(), (matches / of_marked).mean()
        iou_f1 = 2 * precision * recall / (precision + recall).clamp_min(torch.finfo(precision.dtype).tiny)
        return Conclusion(
            torch.stack(
                [area.mean(), token_f1(chosen, marked).mean(), iou_f1, torch.full_like(iou_f1, share)]
            )
        )
