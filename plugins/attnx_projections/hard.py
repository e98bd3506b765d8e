import torch
from torch import Tensor, nn

from attnx.plugin import AttentionProjection

from .masking import project_masked


class Hard(nn.Module, AttentionProjection):
    """Softmax in training, the highest-scored unit alone in evaluation.

    Training weighs the loss of each unit alone by its softmax weight; the first of tied units wins.
    """

    trains_by_expectation = True

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        return project_masked(self._project, scores, mask)

    def _project(self, z: Tensor) -> Tensor:
        if self.training:
            return z.softmax(-1)
        return torch.zeros_like(z).scatter(-1, z.argmax(-1, keepdim=True), 1.0)
