import math

import torch
from torch import Tensor

from attnx.formulas import average_ranks, pearson, shuffled_copy
from attnx.plugin import Evidence, Explainer, Measure, Metric, Model, Trace

from .noise import with_noise
from .options import ParameterRandomisationOptions


class ParameterRandomisation(Metric):
    """Whether the explanation changes when every parameter of the model is reset.
    A reset shuffles the entries of each parameter, so nothing that was learned is left. `rise` is the
    efficient form (H(ê) − H(e)) / H(e), where e are the scores of the units (words, image patches, ...),
    ê those of the reset model for the same class, and H is the entropy of the histogram of the scores
    between the smallest and the largest: an explanation of a model that learned nothing says less. 0 if
    nothing changes. `smoothed-similarity` is Spearman's rank correlation of the two explanations, each
    averaged over noisy inputs: 1 if the explanation is not about the model, about 0 if it is; without
    averaging, noise alone would make it low. Undefined for models without parameters and for scores that
    were not computed by attnx; `rise` also if all scores are in one bin, `smoothed-similarity` if all are
    equal.
    """

    needs = ("gradient",)
    family = "randomisation"
    sees = "explanations"
    cost = "one more explanation, and two per noisy input, 5 by default"
    cannot = (
        "whether the explanation is faithful: random noise that depends on the parameters passes too. The "
        "rise of entropy also depends on the shape of the scores before"
    )
    measures = (
        Measure("rise", "up", (-1, math.inf)),
        Measure("smoothed-similarity", "down", (-1, 1), best=0),
    )

    def __init__(self, options: ParameterRandomisationOptions) -> None:
        self.options = options
        self.passes = 1 + 2 * options.draws

    def __call__(self, evidence: Evidence) -> Tensor:
        explainer, model, mask = evidence.explainer, evidence.model, evidence.trace.batch.mask
        if explainer is None or next(iter(model.parameters()), None) is None:
            return torch.full((len(mask), 2), torch.nan, dtype=torch.float64, device=mask.device)
        reset = shuffled_copy(model, evidence.random.seed)
        batch = evidence.trace.batch
        after = reset.run(batch, reset.embed(batch))
        target = evidence.explanation.target
        e, e_hat = evidence.explanation.values, explainer(reset, after, target)
        h, h_hat = (histogram_entropy(scores, mask, self.options.bins) for scores in (e, e_hat))
        smooth = [
            average_ranks(self._smoothed(evidence, explainer, *of), mask)
            for of in ((model, evidence.trace), (reset, after))
        ]
        rise = (h_hat - h) / h.masked_fill(h == 0, torch.nan)
        return torch.stack([rise, pearson(smooth[0], smooth[1], mask)], dim=1)  # [B, 2]

    def _smoothed(self, evidence: Evidence, explainer: Explainer, model: Model, trace: Trace) -> Tensor:
        """[B, L] the mean of the scores over noisy inputs; the noise is the same for both models."""
        x, units = trace.embeddings, trace.batch.mask[..., None]
        entries = (units & (x != 0)).sum((1, 2)).clamp_min(1)
        size = (x.masked_fill(~units, 0.0).square().sum((1, 2)) / entries).sqrt()[:, None, None]  # [B, 1, 1]
        drawn = evidence.random.to("smoothing").normal(trace.batch, self.options.draws, x.shape[2])
        total = torch.zeros_like(trace.batch.mask, dtype=torch.float64)
        for noise in drawn.to(x):  # [B, L, E]
            with with_noise(model, trace.batch, self.options.noise * size * noise) as noisy:
                total += explainer(model, noisy, evidence.explanation.target)
        return total / self.options.draws


def histogram_entropy(scores: Tensor, mask: Tensor, bins: int) -> Tensor:
    """[B] the entropy of the histogram of scores [B, L] over the mask, from the smallest to the largest."""
    units = mask.sum(1, keepdim=True)  # [B, 1]
    count = units.log2().ceil().long() + 1 if bins == 0 else torch.full_like(units, bins)  # [B, 1]
    values = scores.double()
    low = values.masked_fill(~mask, torch.inf).amin(1, keepdim=True)
    span = values.masked_fill(~mask, -torch.inf).amax(1, keepdim=True) - low
    place = (values - low) / span.masked_fill(span == 0, 1.0) * count + _ROUNDING  # [B, L]
    bin_ = place.long().clamp(min=0).minimum(count - 1)
    sizes = torch.zeros(len(mask), int(count.max()), dtype=torch.float64, device=mask.device)
    sizes.scatter_add_(1, bin_.masked_fill(~mask, 0), mask.double())  # [B, bins]
    entropy = torch.special.entr(sizes / units.clamp_min(1)).sum(1)
    return entropy.masked_fill(~(values.isfinite() | ~mask).all(1), torch.nan)


_ROUNDING = 1e-6  # of a bin: a score that is on an edge but for rounding is in the bin above
