import torch
from torch import Tensor

from attnx.formulas import Randomness, gradients_at, passes_at_once, similar_lengths
from attnx.plugin import GradientPoints, ImportanceMethod, Model, Trace

from .options import GradientShapOptions
from .output import Output, baseline_of, values_by_unit

GROUP = 8  # passes of points whose noise is drawn together


class GradientShap(ImportanceMethod):
    """GradientSHAP: gradients at random points between noisy baselines and the embeddings.

    The score of unit i (a word, an image patch, ...) is the mean of (X_i − B_i) · ∂p(B + α(X − B))/∂X_i
    over draws of α, uniform on [0, 1), and of B, the baseline plus Gaussian noise; every second noise is
    the one before with its sign changed. Signed: positive scores support the class. The draws depend on
    the example and the seed only; they are made here because Captum's depend on the place in the batch.
    Costs one forward and one backward pass per sample, less for LSTMs.
    """

    needs = ("gradient",)

    def __init__(self, options: GradientShapOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute
        self.passes = 3 * options.samples  # forward and backward

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        values = torch.zeros_like(trace.embeddings[..., 0])  # [B, L]
        for rows in similar_lengths(trace.batch.lengths, GROUP * passes_at_once(self.options.samples)):
            some = trace.take(rows)
            output = Output(model, some, target[rows], self.options.of)
            along, _ = gradients_at(model, some, self.points(some, random), output.explained)
            values[rows, : along.shape[1]] = along
        return values_by_unit(values, trace, self.options.absolute)

    def points(self, trace: Trace, random: Randomness) -> GradientPoints:
        """Return random points of the lines, the same for an example at any place of a batch."""
        x, mask, samples = trace.embeddings.detach(), trace.batch.mask, self.options.samples
        own = random.to(f"seed {self.options.seed}")
        first = mask.int().argmax(1)[:, None, None]  # [B, 1, 1] the first unit's draws serve all
        u = own.to("alpha").uniform(trace.batch, samples)  # [B, K, L]
        alpha = u.gather(2, first.expand(-1, samples, 1))[..., 0].T.to(x)  # [K, B]
        noise = None
        if self.options.spread:
            drawn = own.to("noise").normal(trace.batch, (samples + 1) // 2, x.shape[-1]).to(x)
            noise = drawn.mul_(-self.options.spread * _size(x, mask[..., None]))
        away = x - baseline_of(trace, self.options.baseline)
        weights = torch.full_like(alpha[:, 0], 1 / samples)
        return GradientPoints(away, 1 - alpha, weights, noise, only="along")


def _size(x: Tensor, units: Tensor) -> Tensor:
    """[B, 1, 1] the root mean square of the entries of each example's unit embeddings that are not 0."""
    x = x.masked_fill(~units, 0.0)
    return ((x**2).sum((1, 2), keepdim=True) / (x != 0).sum((1, 2), keepdim=True).clamp_min(1)).sqrt()
