"""The parts that all attention classifiers of text share: everything except the encoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, Self, TypeVar

import torch
from torch import Tensor, nn

from attnx.formulas import make_scorer
from attnx.plugin import AttentionProjection, Batch, DataError, Example, Model, Source, TaskData, Trace

from .encoders import Encoder
from .options import ClassifierOptions, SequenceOptions
from .vocabulary import PAD, Vocabulary
from .word_vectors import make_embedding

O = TypeVar("O", bound=ClassifierOptions)  # noqa: E741
S = TypeVar("S", bound=SequenceOptions)


class AttentionClassifier(nn.Module, Generic[O], ABC):
    """Classifies a text by the average of its hidden states, weighted by attention.

    h = encoder(X), z_i = scorer(h_i, Q), a = projection(z), c = Σ a_i h_i, logits = W c + b, where Q is
    the encoded query. With a query the decoder, still one linear layer, gets c and Q.
    """

    needs = ("words",)
    provides: tuple[str, ...] = (*Model.provides, "deletion", "linear-decoder")

    def __init__(self, data: TaskData, projection: AttentionProjection, options: O) -> None:
        super().__init__()
        self.projection = projection
        texts = [(*self.words_of(example), *(example.query or ())) for example in data.train]
        self.vocabulary = Vocabulary.of(texts, options.min_count or data.min_count, options.max_words)
        self.word_vectors = make_embedding(self.vocabulary, options, data.source or Source())
        self.dropout = nn.Dropout(options.dropout)
        self.encoder = self.make_encoder(self.word_vectors.embedding_dim, options)
        asked = any(example.query is not None for example in data.train)
        self.query_encoder = self.make_encoder(self.word_vectors.embedding_dim, options) if asked else None
        hidden = self.encoder.size
        self.scorer = make_scorer(options.scorer, hidden, asked, options.scorer_layers)
        self.decoder = nn.Linear(2 * hidden if asked else hidden, len(data.label_names))

    @classmethod
    def build(cls, data: TaskData, projection: AttentionProjection, options: O) -> Self:
        return cls(data, projection, options)

    @abstractmethod
    def make_encoder(self, size: int, options: O) -> Encoder:
        """An encoder of word vectors of that size."""

    def words_of(self, example: Example) -> Iterable[str]:
        """The words of an example: its units, where these are words."""
        return example.units

    @abstractmethod
    def encode(self, examples: Sequence[Example]) -> Batch:
        """Examples as tensors, on the CPU."""

    def embed(self, batch: Batch) -> Tensor:
        vectors: Tensor = self.word_vectors(batch.inputs)
        return vectors  # [B, L, E]

    def hidden_states(self, batch: Batch, embeddings: Tensor) -> Tensor:
        """[B, L, H], 0 in padding."""
        hidden: Tensor = self.encoder(embeddings, batch.lengths)
        return hidden

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        hidden = self.hidden_states(batch, self.dropout(embeddings))  # [B, L, H]
        query = self.encoded_query(batch)
        scores: Tensor = self.scorer(hidden, query)  # [B, L]
        a = self.projection(scores, batch.mask) if attention is None else attention  # [B, L]
        return Trace(batch, embeddings, hidden, scores, a, self._classify(hidden, a, query))

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query = self.encoded_query(batch)
        scores: Tensor = self.scorer(hidden, query)  # [B, L]
        a = self.projection(scores, batch.mask)  # [B, L]
        return scores, a, self._classify(hidden, a, query)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        return self._classify(trace.hidden, attention, self.encoded_query(trace.batch))

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        learned = self.projection.parameters() if isinstance(self.projection, nn.Module) else ()
        return (*self.scorer.parameters(), *learned)

    def encoded_query(self, batch: Batch) -> Tensor | None:
        """Q [B, H], or None where the task has no queries."""
        if self.query_encoder is None:
            return None
        assert batch.query is not None
        lengths = (batch.query != PAD).sum(1)  # [B]
        hidden = self.query_encoder(self.dropout(self.word_vectors(batch.query)), lengths)
        return self.query_encoder.summary(hidden, lengths)

    def _classify(self, hidden: Tensor, attention: Tensor, query: Tensor | None) -> Tensor:
        """Logits [B, C] under attention [B, L], or [B, K, C] under [B, K, L]."""
        several = attention if attention.ndim == 3 else attention[:, None]  # [B, K, L]
        context = torch.bmm(several, hidden)  # [B, K, H]
        if query is not None:
            context = torch.cat([context, query[:, None].expand_as(context)], -1)  # [B, K, 2H]
        logits: Tensor = self.decoder(context)
        return logits if attention.ndim == 3 else logits[:, 0]

    def query_rows(self, examples: Sequence[Example], boundaries: bool) -> Tensor | None:
        """Return [B, Q] the queries of these examples as numbers, or None if the task has no queries."""
        if self.query_encoder is None:
            return None
        for example in examples:
            if example.query is None:
                raise DataError(f"Example '{example.id}' has no query, but the training examples have.")
        return self.vocabulary.rows([example.query or () for example in examples], boundaries)[0]


class SequenceClassifier(AttentionClassifier[S]):
    """A classifier whose units are words, read in order.

    With boundaries, a start and an end mark are put around the words: columns that the encoder reads and
    that get no attention.
    """

    provides: tuple[str, ...] = (*AttentionClassifier.provides, "reads-query")

    def __init__(self, data: TaskData, projection: AttentionProjection, options: S) -> None:
        super().__init__(data, projection, options)
        self.boundaries = options.boundaries

    def encode(self, examples: Sequence[Example]) -> Batch:
        inputs, lengths = self.vocabulary.rows([example.units for example in examples], self.boundaries)
        marks = int(self.boundaries)  # at each end
        columns = torch.arange(inputs.shape[1], dtype=inputs.dtype).expand_as(inputs)  # [B, L]
        mask = (columns >= marks) & (columns < (lengths - marks)[:, None])
        return Batch.collate(
            examples,
            inputs=inputs,
            mask=mask,
            unit_index=(columns - marks).masked_fill_(~mask, -1),
            lengths=lengths,
            query=self.query_rows(examples, self.boundaries),
        )
