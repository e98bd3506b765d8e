import torch
from torch import Tensor

from attnx.formulas import Randomness, class_output, gradients_at, passes_at_once, similar_lengths
from attnx.plugin import GradientPoints, Model, Trace

from .gradient import Gradient
from .options import SmoothGradOptions

GROUP = 8  # passes of points whose noise is drawn together


class SmoothGrad(Gradient):
    """SmoothGrad: the gradient averaged over noisy copies of the embeddings, then reduced to a size.

    The same as `gradient` with the mean of ∂p_ŷ(X + ε)/∂X_i over draws of Gaussian noise ε on all units
    (words, image patches, ...) in place of ∂p_ŷ(X)/∂X_i; every second draw is the one before with its
    sign changed. Higher is more important, unless reduce=signed
    keeps the sign. The draws depend on the example and the seed only. Costs one forward and one backward
    pass per sample, less for LSTMs.
    """

    options: SmoothGradOptions

    def __init__(self, options: SmoothGradOptions) -> None:
        super().__init__(options)
        self.passes = 3 * options.samples  # forward and backward

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        mean = torch.zeros_like(trace.embeddings)  # [B, L, E]
        for rows in similar_lengths(trace.batch.lengths, GROUP * passes_at_once(self.options.samples)):
            some, chosen = trace.take(rows), target[rows]

            def output(logits: Tensor, at: Tensor, chosen: Tensor = chosen) -> Tensor:
                return class_output(logits.double(), chosen[at], self.options.of)

            held = some.attention if self.options.attention == "fixed" else None
            _, total = gradients_at(model, some, self.points(some, random), output, held)
            mean[rows, : total.shape[1]] = total
        return self.sizes(mean, trace.embeddings, trace.batch.mask)

    def points(self, trace: Trace, random: Randomness) -> GradientPoints:
        """Return the noisy copies of the embeddings, the same for an example at any place of a batch."""
        x, samples = trace.embeddings.detach(), self.options.samples
        own = random.to(f"seed {self.options.seed}")
        noise = own.normal(trace.batch, (samples + 1) // 2, x.shape[-1]).to(x)  # [K/2, B, L, E]
        units = x.masked_fill(~trace.batch.mask[..., None], 0.0)
        entries = (units != 0).sum((1, 2)).clamp_min(1)
        scale = self.options.noise * ((units**2).sum((1, 2)) / entries).sqrt()  # [B]
        weights = x.new_full((samples,), 1 / samples)
        return GradientPoints(torch.zeros_like(x), scale.expand(samples, -1), weights, noise, only="total")
