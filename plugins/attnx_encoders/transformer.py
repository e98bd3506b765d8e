from attnx.plugin import UsageError

from .classifier import SequenceClassifier
from .encoders import Encoder
from .options import TransformerOptions
from .self_attention import SelfAttention


class Transformer(SequenceClassifier[TransformerOptions]):
    """Reads words through layers of self-attention; the tested attention is the pooling on top."""

    def make_encoder(self, size: int, options: TransformerOptions) -> Encoder:
        if options.hidden % options.heads:
            raise UsageError(
                f"heads={options.heads} does not divide hidden={options.hidden}: "
                "choose a hidden size that is a multiple of the heads."
            )
        return SelfAttention(size, options.hidden, options.layers, options.heads, options.feed_forward)
