from .classifier import SequenceClassifier
from .encoders import Convolutions, Encoder
from .options import CnnOptions


class Cnn(SequenceClassifier[CnnOptions]):
    """Text classifier with attention over the hidden states of a convolutional network.

    h_i is the hidden state of word i. A scorer turns each h_i into a score, the projection turns the
    scores into attention weights a_i, and a linear layer classifies Σ_i a_i h_i. The filters have several
    widths; a hidden state depends on the words within half of the widest filter.
    """

    provides = (*SequenceClassifier.provides, "rescale")

    def make_encoder(self, size: int, options: CnnOptions) -> Encoder:
        return Convolutions(size, options.hidden, options.kernels)
