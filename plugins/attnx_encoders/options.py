"""Options of the attention classifiers of text."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from attnx.plugin import Options

Level = Literal["gru", "conv", "none"]


def _odd(kernels: tuple[int, ...]) -> tuple[int, ...]:
    for kernel in kernels:
        if kernel < 1 or kernel % 2 == 0:
            raise ValueError(f"kernel {kernel} is not odd, so it has no middle word")
    return kernels


Kernels = Annotated[tuple[int, ...], Field(min_length=1), AfterValidator(_odd)]


class ClassifierOptions(Options):
    """What all attention classifiers of text have in common."""

    scorer: Literal["additive", "dot", "deep"] = Field(
        "additive", description="how a hidden state, with the query if there is one, becomes a score"
    )
    scorer_layers: int = Field(2, ge=1, description="fully connected layers of the deep scorer")
    hidden: int = Field(128, ge=2, description="size of the encoder's hidden states")
    embedding: int = Field(300, ge=1, description="size of learned word vectors; a file brings its own")
    embeddings: str = Field(
        "learned",
        description="learned, or a text file of word vectors (or .gz), as 'attnx data fetch glove-50d' gets",
    )
    freeze: bool = Field(False, description="leave word vectors as they are in training")
    min_count: int | None = Field(
        None, ge=1, description="a word rarer than this in train is unknown; None: as the task says"
    )
    max_words: int | None = Field(None, ge=1, description="keep this many of the most frequent words")
    dropout: float = Field(0.0, ge=0, lt=1, description="share of word vectors' entries dropped in training")


class SequenceOptions(ClassifierOptions):
    """Options of `mlp` and `average`, and of every classifier that reads a text word by word."""

    boundaries: bool = Field(
        True, description="put a start and an end mark around the words; they get no attention"
    )


class BiLstmOptions(SequenceOptions):
    """Options of `bilstm`."""

    hidden: int = Field(128, ge=1, description="size of the hidden states of each direction")


class CnnOptions(SequenceOptions):
    """Options of `cnn`."""

    kernels: Kernels = Field((1, 3, 5, 7, 15), description="widths of the filters, joined by +")


class TransformerOptions(SequenceOptions):
    """Options of `transformer`."""

    layers: int = Field(2, ge=1, description="layers of self-attention")
    heads: int = Field(1, ge=1, description="heads of each layer; they divide the hidden size")
    feed_forward: int = Field(512, ge=1, description="width of the network after each self-attention")


class HanOptions(ClassifierOptions):
    """Options of `han`."""

    hidden: int = Field(64, ge=1, description="half the size of hidden states: each direction of a GRU")
    words: Level = Field("gru", description="encoder of the words of a sentence")
    sentences: Level = Field("gru", description="encoder of the sentences of a text")
    kernels: Kernels = Field((1, 3, 5, 7), description="widths of the filters of a conv, joined by +")
    longest: int = Field(60, ge=1, description="most words of a sentence; a longer one is cut into several")
