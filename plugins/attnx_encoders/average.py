from torch import nn

from .classifier import SequenceClassifier
from .encoders import Encoder, Unitwise
from .options import SequenceOptions


class Average(SequenceClassifier[SequenceOptions]):
    """Text classifier with attention over words, each encoded by a linear layer and tanh.

    h_i is the hidden state of word i. A scorer turns each h_i into a score, the projection turns the
    scores into attention weights a_i, and a linear layer classifies Σ_i a_i h_i. A hidden state depends
    only on its own word, so a weight on h_i is a weight on word i.
    """

    provides = (*SequenceClassifier.provides, "rescale")

    def make_encoder(self, size: int, options: SequenceOptions) -> Encoder:
        return Unitwise(size, options.hidden, nn.Tanh())
