from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from attnx.formulas import ranked
from attnx.plugin import Evidence, Measure, Metric

from .options import PlausibilityOptions
from .spans import span_f1


class Plausibility(Metric):
    """How well the explanation finds the units that people marked (human rationales).

    All measures have the range 0 to 1; higher is better. `average-precision` = Σ_t (R_t − R_{t−1}) P_t
    with precision P, recall R and a threshold t at every distinct score: equal scores get the share of
    units (words, image patches, ...) that are marked, which is the chance level.

    For the other two measures the k units with the highest scores are chosen: as many as were marked, or
    a fixed share of all units. Ties are broken at random, so equal scores choose by chance and not from
    the beginning. `token-f1` is the F1 of the chosen against the marked units. `iou-f1` is the F1 of
    their spans (runs of consecutive units): two spans match if their intersection is at least half of
    their union.

    Scores keep their sign: a unit with a negative score is chosen last. F1 is computed for each example
    and then averaged; `eraser` computes it as the benchmark does. All measures are 1 for any scores if
    every unit was marked. Undefined if no unit is marked, if the marks are unknown, and if a score is not
    finite. Agreement with people is not faithfulness: the model may use other units than people would.
    """

    needs = ("rationale",)
    family = "ground-truth"
    sees = "rationale"
    cost = "nothing: no pass through the model"
    cannot = "whether the model uses these units: it may rightly use others than people marked"
    measures = (
        Measure("average-precision", "up", (0, 1)),
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
                areas(scores, marked, batch.mask)[1],
                token_f1(chosen, marked),
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
        return share_of(mask.sum(1), self.options.fraction)


def share_of(units: Tensor, fraction: float) -> Tensor:
    """Return [B] a share of units [B] in whole units, at least one; halves are rounded up.

    Values within 1e-9 below a half are rounded up too: the rounding error of a mean share must not
    decide.
    """
    return (units.double() * fraction + (0.5 + 1e-9)).floor().long().clamp_min(1).minimum(units)


def token_f1(chosen: Tensor, marked: Tensor) -> Tensor:
    """[B] F1 of the chosen [B, L] against the marked units [B, L]."""
    return 2 * (chosen & marked).sum(1) / (chosen.sum(1) + marked.sum(1)).double()


def areas(scores: Tensor, marked: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return [B] the area under precision and recall of scores [B, L], and [B] average precision.

    NaN without marks. Every marked unit earns the precision P_t among all units that score at least as
    much; for the area, the mean of it and of P_{t−1}, among all that score more.
    """
    ordered, order = scores.masked_fill(~mask, -torch.inf).sort(dim=1, descending=True)
    hit = marked.gather(1, order)  # [B, L]
    places = torch.arange(scores.shape[1], device=scores.device).expand_as(order)
    differs = ordered[:, :-1] != ordered[:, 1:]  # [B, L-1]
    last, first = pad(differs, (0, 1), value=True), pad(differs, (1, 0), value=True)  # [B, L] of a tie
    end = places.masked_fill(~last, scores.shape[1]).flip(1).cummin(1).values.flip(1)
    start = places.masked_fill(~first, 0).cummax(1).values
    precision = pad(hit.cumsum(1) / (places + 1).double(), (1, 0), value=1.0)  # [B, 1 + L] of the first k
    at, before = precision.gather(1, end + 1), precision.gather(1, start)
    total = hit.sum(1)
    return ((at + before) / 2 * hit).sum(1) / total, (at * hit).sum(1) / total


def chosen_units(evidence: Evidence, size: Tensor) -> Tensor:
    """[B, L] the `size` [B] units that the explanation puts first."""
    mask = evidence.trace.batch.mask
    first = torch.arange(mask.shape[1], device=mask.device) < size[:, None]  # [B, L] by rank
    return torch.zeros_like(mask).scatter(1, ranked(evidence), first) & mask
