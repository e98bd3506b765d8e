import math

import torch
from entmax import entmax_bisect
from torch import Tensor, nn

from attnx.plugin import AttentionProjection

from .masking import project_masked
from .options import EntmaxOptions
from .thresholds import entmax15, sparsemax

NEAREST = 1e-7  # to α = 1: closer, the power 1 / (α − 1) loses more digits than softmax differs


class Entmax(nn.Module, AttentionProjection):
    """α-entmax attention: between softmax (α = 1) and sparsemax (α = 2).

    a = argmax_p p·z + H_α(p) over the simplex, where z are the scores of the units (words, image patches,
    ...) and H_α is the Tsallis entropy. For α > 1 low scores get exactly 0. With learned=true, α is trained
    with the model as 1 + softplus(θ), which keeps it above 1.
    """

    theta: nn.Parameter | None

    def __init__(self, options: EntmaxOptions) -> None:
        super().__init__()
        self.start = options.alpha
        theta = nn.Parameter(torch.tensor(_inverse_softplus(self.start - 1))) if options.learned else None
        self.register_parameter("theta", theta)

    @property
    def alpha(self) -> Tensor:
        """α as it is now, a scalar."""
        if self.theta is None:
            return torch.tensor(self.start, dtype=torch.float64)
        return 1 + nn.functional.softplus(self.theta.double())

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        if self.theta is None and self.start == 1.5:
            return entmax15(scores, mask)
        if self.theta is None and self.start == 2:
            return sparsemax(scores, mask)
        return project_masked(self._project, scores, mask)

    def _project(self, z: Tensor) -> Tensor:
        if self.theta is None and self.start == 1:
            return z.softmax(-1)
        # In float32 the power 1 / (α − 1) costs up to four digits near α = 1 and above α = 2.
        alpha = self.alpha.to(z.device, torch.float64).clamp_min(1 + NEAREST)
        p: Tensor = entmax_bisect(z.double(), alpha, dim=-1)
        return p.to(z.dtype)


def _inverse_softplus(y: float) -> float:
    """x with log(1 + exp x) = y, for y > 0."""
    return y + math.log(-math.expm1(-y))
