from torch import Tensor, nn

from attnx import Trace

from .classifier import SequenceClassifier
from .encoders import Bidirectional
from .lstm_deletion import logits_without_each
from .model_options import BiLstmOptions


class BiLstm(SequenceClassifier[BiLstmOptions]):
    """Reads words with an LSTM in each direction."""

    provides = ("attention", "gradient", "hidden", "deletion", "fast-deletion")

    def make_encoder(self, size: int, options: BiLstmOptions) -> Bidirectional:
        return Bidirectional(nn.LSTM, size, options.hidden)

    def without_each(self, trace: Trace) -> Tensor:
        """Logits [B, L, C] with the unit of each column deleted in turn, by reuse of LSTM states."""
        assert isinstance(self.encoder, Bidirectional)
        return logits_without_each(
            self.encoder, self.scorer, self.projection, self.decoder, self.encoded_query(trace.batch), trace
        )
