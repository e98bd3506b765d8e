from .classifier import SequenceClassifier
from .encoders import Convolutions, Encoder
from .options import CnnOptions


class Cnn(SequenceClassifier[CnnOptions]):
    """Reads words through filters of several widths."""

    provides = (*SequenceClassifier.provides, "rescale")

    def make_encoder(self, size: int, options: CnnOptions) -> Encoder:
        return Convolutions(size, options.hidden, options.kernels)
