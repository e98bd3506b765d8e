import torch
from captum import attr
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import GradientShapOptions
from .output import Output, baseline_of, rows_per_pass, values_by_unit


class GradientShap(ImportanceMethod):
    """GradientSHAP: gradients at random points between noisy baselines and the embeddings.

    The score of unit i (a word, an image patch, ...) is the mean of (X_i − B_i) · ∂p(B + α(X − B))/∂X_i
    over draws of α, uniform on [0, 1), and of B, the baseline plus Gaussian noise. Signed: positive
    scores support the class. The draws depend on the example and the seed only; they are made here
    because Captum's depend on the place in the batch. Costs one forward and one backward pass per sample.
    """

    needs = ("gradient",)

    def __init__(self, options: GradientShapOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute
        self.passes = 3 * options.samples  # forward and backward

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        output = Output(model, trace, target, self.options.of)
        gradient = attr.Saliency(output)
        x = trace.embeddings.detach()  # [B, L, E]
        together = rows_per_pass(trace) // len(x)
        total = torch.zeros_like(x)
        for draws in torch.arange(self.options.samples).split(together):
            drawn = [self.draw(trace, random, draw) for draw in draws.tolist()]
            alpha = torch.cat([a for a, _ in drawn])[:, None, None]  # [D·B, 1, 1]
            away = x.repeat(len(draws), 1, 1) - torch.cat([b for _, b in drawn])  # [D·B, L, E]
            found = gradient.attribute(
                (x.repeat(len(draws), 1, 1) - (1 - alpha) * away).requires_grad_(),
                abs=False,
                additional_forward_args=output.rows.repeat(len(draws)),
            )
            total += (found * away).unflatten(0, (len(draws), -1)).sum(0)
        return values_by_unit(total / self.options.samples, trace, self.options.absolute)

    def draw(self, trace: Trace, random: Randomness, number: int) -> tuple[Tensor, Tensor]:
        """Return α [B] and a baseline [B, L, E], the same for an example at any place of a batch."""
        x, units = trace.embeddings.detach(), trace.batch.mask[..., None]
        noisy = x.shape[-1] if self.options.spread else 0
        own = random.to(f"seed {self.options.seed}").to(f"draw {number}")
        u = own.uniform(trace.batch, 1 + noisy)  # [B, 1 + E, L]
        first = trace.batch.mask.int().argmax(1, keepdim=True)  # [B, 1] the first unit's draw serves all
        alpha = u[:, 0].gather(1, first)[:, 0].to(x)
        baseline = baseline_of(trace, self.options.baseline)
        if noisy:
            normal = torch.special.ndtri(u[:, 1:].clamp_min(2.0**-54)).mT.to(x)  # [B, L, E]
            baseline = baseline + (self.options.spread * _size(x, units) * normal).masked_fill(~units, 0.0)
        return alpha, baseline


def _size(x: Tensor, units: Tensor) -> Tensor:
    """[B, 1, 1] the root mean square of the entries of each example's unit embeddings that are not 0."""
    x = x.masked_fill(~units, 0.0)
    return ((x**2).sum((1, 2), keepdim=True) / (x != 0).sum((1, 2), keepdim=True).clamp_min(1)).sqrt()
