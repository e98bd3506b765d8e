from torch import nn

from .classifier import SequenceClassifier
from .encoders import Encoder, Unitwise
from .options import SequenceOptions


class Average(SequenceClassifier[SequenceOptions]):
    """Reads each word alone through a linear map and tanh."""

    provides = (*SequenceClassifier.provides, "rescale")

    def make_encoder(self, size: int, options: SequenceOptions) -> Encoder:
        return Unitwise(size, options.hidden, nn.Tanh())
