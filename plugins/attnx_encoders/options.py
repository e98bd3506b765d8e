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
    """Options shared by all attention classifiers of text."""

    scorer: Literal["additive", "dot", "deep"] = Field(
        "additive", description="how a hidden state (and the query, if any) becomes a score"
    )
    scorer_layers: int = Field(2, ge=1, description="number of fully connected layers of the deep scorer")
    hidden: int = Field(128, ge=2, description="size of the encoder's hidden states")
    embedding: int = Field(300, ge=1, description="size of learned word vectors; ignored if a file is given")
    embeddings: str = Field(
        "learned",
        description="learned, or a text file of word vectors (.gz too; see 'attnx data fetch glove-50d')",
    )
    spread: float = Field(
        0.1, gt=0, description="standard deviation of the word vectors that are learned from random values"
    )
    freeze: bool = Field(False, description="do not train the word vectors")
    min_count: int | None = Field(
        None, ge=1, description="words with fewer occurrences in train are unknown; None: the task's default"
    )
    max_words: int | None = Field(None, ge=1, description="keep only this many of the most frequent words")
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout rate on word vectors in training")


class SequenceOptions(ClassifierOptions):
    """Options of `mlp` and `average`, shared by every classifier over words."""

    boundaries: bool = Field(
        True, description="put a start and an end mark around the words; they get no attention"
    )


class BiLstmOptions(SequenceOptions):
    """Options of `bilstm`."""

    hidden: int = Field(128, ge=1, description="size of the hidden states of each direction")


class CnnOptions(SequenceOptions):
    """Options of `cnn`."""

    kernels: Kernels = Field((1, 3, 5, 7, 15), description="filter widths, joined by +")


class TransformerOptions(SequenceOptions):
    """Options of `transformer`."""

    layers: int = Field(2, ge=1, description="layers of self-attention")
    heads: int = Field(1, ge=1, description="heads per layer; hidden must be a multiple")
    feed_forward: int = Field(512, ge=1, description="width of the network after each self-attention")


class HanOptions(ClassifierOptions):
    """Options of `han`."""

    hidden: int = Field(64, ge=1, description="half the size of hidden states (one GRU direction)")
    words: Level = Field("gru", description="encoder of the words of a sentence")
    sentences: Level = Field("gru", description="encoder of the sentences of a text")
    kernels: Kernels = Field((1, 3, 5, 7), description="filter widths of conv encoders, joined by +")
    longest: int = Field(60, ge=1, description="largest number of words per sentence; longer ones are split")
