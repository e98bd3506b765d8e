import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Batch, Evidence, Importance, Measure, Metric

from .options import FeatureAgreementOptions


class FeatureAgreement(Metric):
    """Share of the top k units that explanation and reference have in common.
    The top k are the k units (words, image patches, ...) with the largest absolute scores; all, if there
    are fewer. `overlap` is the share of them that both have, `same-rank` the share that both have at the
    same rank, `same-sign` the share that both have with the same sign, `same-rank-and-sign` the share for
    which all of this holds. Ties are broken at random, for each of the two in another way. The measures
    of signs are undefined unless both have signs.
    """

    needs = ("reference",)
    family = "agreement"
    sees = "scores"
    cost = "nothing but the reference: no pass through the model"
    cannot = "which of the two is right if they disagree, nor that they are right if they agree"
    measures = (
        Measure("overlap", "up", (0, 1)),
        Measure("same-rank", "up", (0, 1)),
        Measure("same-sign", "up", (0, 1)),
        Measure("same-rank-and-sign", "up", (0, 1)),
    )

    def __init__(self, options: FeatureAgreementOptions) -> None:
        self.k = options.k

    def __call__(self, evidence: Evidence) -> Tensor:
        one, other, batch = evidence.explanation, evidence.reference, evidence.trace.batch
        places = [_places(scores, batch, evidence.random.to(f"ties of the {which}"))
                  for which, scores in (("explanation", one), ("reference", other))]  # fmt: skip
        both = (places[0] < self.k) & (places[1] < self.k) & batch.mask  # [B, L]
        rank = both & (places[0] == places[1])
        sign = both & (one.values.sign() == other.values.sign())
        counts = torch.stack([both, rank, sign, rank & sign], dim=1).sum(2).double()  # [B, 4]
        found = counts / batch.mask.sum(1, keepdim=True).clamp(1, self.k)
        if not (one.signed and other.signed):
            found[:, 2:] = torch.nan
        return found


def _places(scores: Importance, batch: Batch, random: Randomness) -> Tensor:
    """[B, L] the place of each column by the size of its score, the largest first; off the mask last."""
    draws = random.uniform(batch)[:, 0].masked_fill(~batch.mask, torch.inf)  # [B, L]
    shuffled = draws.argsort(1)
    size = scores.values.abs().masked_fill(~batch.mask, -1.0).gather(1, shuffled)
    return shuffled.gather(1, size.argsort(dim=1, descending=True, stable=True)).argsort(1)
