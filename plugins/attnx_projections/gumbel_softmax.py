import torch
from torch import Tensor, nn

from attnx.plugin import AttentionProjection

from .masking import project_masked
from .options import GumbelSoftmaxOptions

SEED = 0  # of the evaluation noise, a constant of the definition as the temperature's default is


class GumbelSoftmax(nn.Module, AttentionProjection):
    """Softmax attention with Gumbel noise added to the scores in training.

    a = softmax((z + g) / T) with g_i = −log E_i, E_i exponential, drawn again at every training pass. In
    evaluation there is no noise, or the average of a over `draws` tables of noise.

    Evaluation noise belongs to the column: it is the same for every example and every pass, so results do
    not depend on batch or padding, and two masks of one example are compared under the same noise. The
    price is that some columns get more favourable noise than others in every example. Each column gets
    every 1/draws quantile of the Gumbel distribution once, in its own order (Latin hypercube sampling),
    which about halves that effect; draws well above the number of units (words, image patches, ...)
    remove most of it.
    """

    def __init__(self, options: GumbelSoftmaxOptions) -> None:
        super().__init__()
        self.temperature = options.temperature
        self.draws = options.draws

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        return project_masked(self._project, scores, mask)

    def _project(self, z: Tensor) -> Tensor:
        if self.training:
            tiny = torch.finfo(z.dtype).tiny
            noise = -torch.empty_like(z).exponential_().clamp_min(tiny).log()  # [..., L]
            return self._softmax(z + noise)
        if self.draws:
            noise = _noise_by_column(self.draws, z.shape[-1]).to(z)  # [K, L]
            return self._softmax(z.unsqueeze(-2) + noise).mean(-2)
        return self._softmax(z)

    def _softmax(self, z: Tensor) -> Tensor:
        below = z - z.detach().amax(-1, keepdim=True)  # noise may have put another unit on top
        return (below / self.temperature).softmax(-1)


def _noise_by_column(draws: int, columns: int) -> Tensor:
    """Gumbel noise [K, L]; a longer table begins with the shorter ones."""
    generator = torch.Generator().manual_seed(SEED)
    uniform = torch.rand(columns, 2, draws, generator=generator, dtype=torch.float64)
    order, within = uniform[:, 0].argsort(-1), uniform[:, 1]  # [L, K]
    exponential = -((order + within) / draws).neg().log1p()  # [L, K]
    return -exponential.clamp_min(torch.finfo(torch.float64).tiny).log().T
