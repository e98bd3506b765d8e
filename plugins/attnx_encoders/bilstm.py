from torch import Tensor, nn

from attnx.plugin import ExplainedOutput, GradientPoints, Trace

from .classifier import SequenceClassifier
from .encoders import Bidirectional
from .lstm_deletion import logits_without_each
from .lstm_gradients import lstm_gradients_at
from .lstm_influence import lstm_influence
from .lstm_replacement import logits_of_replaced
from .options import BiLstmOptions


class BiLstm(SequenceClassifier[BiLstmOptions]):
    """Text classifier with attention over the hidden states of a bidirectional LSTM.

    h_i is the hidden state of word i. A scorer turns each h_i into a score, the projection turns the
    scores into attention weights a_i, and a linear layer classifies Σ_i a_i h_i. Every hidden state
    depends on the whole text, so a weight on h_i is not a weight on word i alone.
    """

    provides = (
        *SequenceClassifier.provides,
        "fast-deletion",
        "fast-influence",
        "fast-gradients",
        "fast-replacement",
    )

    def make_encoder(self, size: int, options: BiLstmOptions) -> Bidirectional:
        return Bidirectional(nn.LSTM, size, options.hidden)

    def without_each(self, trace: Trace) -> Tensor:
        """Return logits [B, L, C] with the unit of each column deleted in turn, reusing LSTM states."""
        assert isinstance(self.encoder, Bidirectional)
        return logits_without_each(
            self.encoder, self.scorer, self.projection, self.decoder, self.encoded_query(trace.batch), trace
        )

    def influence(self, trace: Trace) -> Tensor:
        """Return [B, P, L] ‖∂‖h_p‖₂ / ∂X_i‖₂ by one backward pass for all hidden states at once."""
        assert isinstance(self.encoder, Bidirectional)
        return lstm_influence(self.encoder, trace.embeddings, trace.hidden, trace.batch.lengths)

    def gradients_at(
        self, trace: Trace, points: GradientPoints, output: ExplainedOutput
    ) -> tuple[Tensor, Tensor]:
        """Return the sums of gradient·direction [B, L] and of gradients [B, L, E] over many points."""
        assert isinstance(self.encoder, Bidirectional)

        def decode(rows: Tensor, hidden: Tensor) -> Tensor:
            return self.decode(trace.batch.take(rows), hidden)[2]

        return lstm_gradients_at(self.encoder, decode, trace, points, output)

    def replaced(self, trace: Trace, rows: Tensor, absent: Tensor, baseline: Tensor) -> Tensor:
        """Return logits [R, C] of rows [R] with a baseline [B, L, E] where absent [R, L]."""
        assert isinstance(self.encoder, Bidirectional)
        query = self.encoded_query(trace.batch)
        return logits_of_replaced(
            self.encoder, self.scorer, self.projection, self.decoder, query, trace, rows, absent, baseline
        )
