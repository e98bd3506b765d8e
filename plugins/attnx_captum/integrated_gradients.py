import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness, gradients_at
from attnx.plugin import GradientPoints, ImportanceMethod, Model, Trace

from .options import IntegratedGradientsOptions
from .output import Output, baseline_of, values_by_unit


class IntegratedGradients(ImportanceMethod):
    """Integrated gradients: gradients averaged from a baseline to the embeddings, times the difference.

    (X_i − B_i)·∫₀¹ ∂p(B + α(X − B))/∂X_i dα for unit i (a word, an image patch, ...) with embedding X_i
    and baseline B_i. Signed: positive scores support the class. Over all units the scores add up to p(X)
    − p(B). Costs one forward and one backward pass per step, less for LSTMs. If a ReLU is within rounding
    of 0 at a step, its gradient there depends on the processor, and so does the third digit of a score.
    """

    needs = ("gradient",)

    def __init__(self, options: IntegratedGradientsOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute
        self.passes = 3 * options.steps  # forward and backward

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        output = Output(model, trace, target, self.options.of)
        along, _ = gradients_at(model, trace, self._line(trace), output.explained)
        return values_by_unit(along, trace, self.options.absolute)

    def _line(self, trace: Trace) -> GradientPoints:
        """Return the points of Gauss-Legendre quadrature between the baseline and the embeddings."""
        places, weights = np.polynomial.legendre.leggauss(self.options.steps)  # on [−1, 1]
        x = trace.embeddings.detach()
        away = x - baseline_of(trace, self.options.baseline)  # [B, L, E]
        share = torch.from_numpy((1 - places) / 2).to(x)[:, None]  # [K, 1] 1 is the baseline
        counted = torch.from_numpy(weights / 2).to(x)
        return GradientPoints(away, share.expand(-1, len(x)), counted, only="along")
