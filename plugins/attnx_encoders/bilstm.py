from torch import Tensor, nn

from attnx.plugin import Trace

from .classifier import SequenceClassifier
from .encoders import Bidirectional
from .lstm_deletion import logits_without_each
from .lstm_influence import lstm_influence
from .options import BiLstmOptions


class BiLstm(SequenceClassifier[BiLstmOptions]):
    """Reads words with an LSTM in each direction."""

    provides = (*SequenceClassifier.provides, "fast-deletion", "fast-influence")

    def make_encoder(self, size: int, options: BiLstmOptions) -> Bidirectional:
        return Bidirectional(nn.LSTM, size, options.hidden)

    def without_each(self, trace: Trace) -> Tensor:
        """Logits [B, L, C] with the unit of each column deleted in turn, by reuse of LSTM states."""
        assert isinstance(self.encoder, Bidirectional)
        return logits_without_each(
            self.encoder, self.scorer, self.projection, self.decoder, self.encoded_query(trace.batch), trace
        )

    def influence(self, trace: Trace) -> Tensor:
        """[B, P, L] ‖∂‖h_p‖₂ / ∂X_i‖₂ by one walk back for all hidden states at once."""
        assert isinstance(self.encoder, Bidirectional)
        return lstm_influence(self.encoder, trace.embeddings, trace.hidden, trace.batch.lengths)
