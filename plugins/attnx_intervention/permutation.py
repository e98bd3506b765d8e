import torch
from torch import Tensor

from attnx.formulas import total_variation
from attnx.plugin import Axis, Evidence, Measure, Metric, WithCurve

from .bins import by_bin, centres
from .options import PermutationOptions
from .reattending import alternatives_at_once, probabilities_under


class Permutation(Metric):
    """How much the output changes when the attention weights are randomly permuted.

    `median` is the median over random permutations of the weights among the units (words, image patches,
    ...) of the total variation ½·Σ_c |p_c − p'_c| between the two outputs; for two classes it is |Δp|.
    The range is 0 to 1; higher means that it matters which unit has which weight. `max-weight` is the
    largest weight; Jain and Wallace plot the change against it. It tests the model's attention, not
    another explanation. Costs one pass of the decoder per permutation.
    """

    needs = ("reattend",)
    family = "intervention"
    sees = "attention layer"
    cost = "no pass through the encoder: only attention is changed"
    cannot = (
        "whether attention points at the units that matter: a deceived model can depend on its attention too"
    )
    reads_explanation = False
    passes = 2  # a hundred passes of the decoder
    measures = (
        Measure("median", "up", (0, 1)),
        Measure("max-weight", "none", (0, 1)),
    )
    axis = Axis("mean of the median change", "largest weight", centres(0, 1))

    def __init__(self, options: PermutationOptions) -> None:
        self.permutations = options.permutations

    def __call__(self, evidence: Evidence) -> WithCurve:
        a, mask = evidence.trace.attention, evidence.trace.batch.mask
        p = evidence.trace.logits.double().softmax(-1)[:, None]  # [B, 1, C]
        random = evidence.random.to("permutations")
        draws = random.uniform(evidence.trace.batch, self.permutations)  # [B, K, L]
        change = [
            total_variation(p, probabilities_under(evidence, _permuted(a, mask, part)))
            for part in draws.split(alternatives_at_once(a), dim=1)
        ]
        median = torch.cat(change, dim=1).quantile(0.5, dim=1)  # [B]
        values = torch.stack([median, a.double().amax(1).clamp_max(1.0)], dim=1)
        values = values.masked_fill(~mask.any(1, keepdim=True), torch.nan)
        return WithCurve(values, by_bin(values[:, 0], values[:, 1], self.axis.points))


def _permuted(attention: Tensor, mask: Tensor, draws: Tensor) -> Tensor:
    """Return [B, K, L] the weights of the units in the order of their draws [B, K, L]; 0 off the mask."""
    units = (~mask).int().argsort(dim=1, stable=True)  # [B, L] columns of units in a row, then the rest
    order = draws.masked_fill(~mask[:, None], torch.inf).argsort(-1)  # [B, K, L] likewise, at random
    shape = draws.shape
    permuted = attention[:, None].expand(shape).gather(2, order)
    return torch.zeros_like(permuted).scatter(2, units[:, None].expand(shape), permuted)
