from torch import Tensor

from attnx.plugin import Trace, UsageError

from .classifier import SequenceClassifier
from .encoders import Encoder
from .options import TransformerOptions
from .self_attention import SelfAttention
from .self_attention_influence import self_attention_influence


class Transformer(SequenceClassifier[TransformerOptions]):
    """Text classifier with attention over the hidden states of a small transformer encoder.

    h_i is the hidden state of word i. A scorer turns each h_i into a score, the projection turns the
    scores into attention weights a_i, and a linear layer classifies Σ_i a_i h_i. The attention that is
    tested is this pooling attention, not the self-attention inside the encoder. Every hidden state
    depends on the whole text, so a weight on h_i is not a weight on word i alone.
    """

    provides = (*SequenceClassifier.provides, "fast-influence")

    def make_encoder(self, size: int, options: TransformerOptions) -> Encoder:
        if options.hidden % options.heads:
            raise UsageError(
                f"heads={options.heads} does not divide hidden={options.hidden}: "
                "choose a hidden size that is a multiple of the heads."
            )
        return SelfAttention(size, options.hidden, options.layers, options.heads, options.feed_forward)

    def influence(self, trace: Trace) -> Tensor:
        """Return [B, P, L] ‖∂‖h_p‖₂ / ∂X_i‖₂, a layer at a time."""
        assert isinstance(self.encoder, SelfAttention)
        return self_attention_influence(self.encoder, trace.embeddings, trace.batch.lengths)
