import torch
from torch import Tensor, nn

from attnx.plugin import AttentionProjection

from .masking import project_masked


class Hard(nn.Module, AttentionProjection):
    """Hard attention: the unit with the highest score gets all the weight in evaluation.

    Training uses softmax: the loss is the mean of the losses of single units (words, image patches, ...),
    weighted by their softmax weights. In evaluation the first of tied units gets the weight.
    """

    trains_by_expectation = True

    def forward(self, scores: Tensor, mask: Tensor) -> Tensor:
        return project_masked(self._project, scores, mask)

    def _project(self, z: Tensor) -> Tensor:
        if self.training:
            return z.softmax(-1)
        return torch.zeros_like(z).scatter(-1, z.argmax(-1, keepdim=True), 1.0)
