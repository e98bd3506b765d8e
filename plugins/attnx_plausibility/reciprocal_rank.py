import torch
from torch import Tensor

from attnx.formulas import ranked
from attnx.plugin import Evidence, Measure, Metric


class ReciprocalRank(Metric):
    """1 / the rank of the first marked unit; its mean over examples is the mean reciprocal rank (MRR).

    Units (words, image patches, ...) are ranked by score, the highest first; ties are broken at random. 1 if
    the top unit is marked. Undefined if no unit is marked, or if the marks are unknown.
    """

    needs = ("rationale",)
    family = "ground-truth"
    sees = "rationale"
    cost = "nothing: no pass through the model"
    cannot = "whether the explanation finds all marked units: only the first one counts"
    measures = (Measure("reciprocal-rank", "up", (0, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        mask = evidence.trace.batch.mask
        marked = (evidence.trace.batch.rationale == 1) & mask  # [B, L], False where not known
        place = ranked(evidence).argsort(1) + 1  # [B, L]
        first = place.masked_fill(~marked, mask.shape[1] + 1).amin(1)  # [B]
        return (1 / first.double()).masked_fill(~marked.any(1), torch.nan)
