from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from attnx.formulas import make_scorer
from attnx.plugin import AttentionProjection, Batch, Example, TaskData, UsageError

from .classifier import AttentionClassifier
from .encoders import Bidirectional, Convolutions, Encoder, Same, inside
from .options import HanOptions, Level
from .sentences import in_sentences
from .vocabulary import PAD


class Han(AttentionClassifier[HanOptions]):
    """Hierarchical attention network: attention over words, then over sentences.

    Units are sentences: the attention that is tested is the one over sentences, and the columns of a
    batch, its examples' units and its rationale are sentences too. Sentences end at . ! or ?.

    The embedding of a sentence is the vectors of all its words, end to end, E = W·e, with 0 after the
    last. So a gradient of a sentence is that of its words together, and deleting a sentence deletes its
    words, because the word level never looks outside a sentence. The attention over words is always
    softmax; the projection applies to the attention over sentences.
    """

    def __init__(self, data: TaskData, projection: AttentionProjection, options: HanOptions) -> None:
        if any(example.query is not None for example in data.train):
            raise UsageError("han cannot read queries: for this task choose bilstm, cnn, mlp or transformer.")
        super().__init__(data, projection, options)
        size = self.word_vectors.embedding_dim
        self.longest = options.longest
        self.word_encoder = _level(options.words, size, options)
        self.word_scorer = make_scorer("additive", self.word_encoder.size, query=False)

    def make_encoder(self, size: int, options: HanOptions) -> Encoder:
        """The encoder of sentences."""
        return _level(options.sentences, _level_size(options.words, size, options), options)

    def words_of(self, example: Example) -> Iterable[str]:
        return (word for unit in example.units for word in unit.split())

    def encode(self, examples: Sequence[Example]) -> Batch:
        texts = [in_sentences(example, self.longest) for example in examples]
        sentences = [unit.split() for text in texts for unit in text.units]
        rows, _ = self.vocabulary.rows(sentences, boundaries=False)  # [all sentences, W]
        lengths = torch.tensor([len(text.units) for text in texts])  # [B]
        mask = inside(lengths, int(lengths.max()))  # [B, S]
        inputs = rows.new_full((*mask.shape, max(1, rows.shape[1])), PAD)  # [B, S, W]
        inputs[..., : rows.shape[1]][mask] = rows
        columns = torch.arange(mask.shape[1]).expand_as(mask)
        return Batch.collate(
            texts,
            inputs=inputs,
            mask=mask,
            unit_index=columns.masked_fill(~mask, -1),
            lengths=lengths,
        )

    def embed(self, batch: Batch) -> Tensor:
        longest = max(1, int(_word_counts(batch).max())) if batch.mask.numel() else 1
        vectors: Tensor = self.word_vectors(batch.inputs[..., :longest])  # [B, S, W, e]
        return vectors.flatten(2)  # [B, S, W·e]

    def hidden_states(self, batch: Batch, embeddings: Tensor) -> Tensor:
        size = self.word_vectors.embedding_dim
        vectors = embeddings.unflatten(-1, (embeddings.shape[-1] // size, size))  # [B, S, W, e]
        counts = _word_counts(batch)  # [B, S]
        filled = counts > 0
        sentences = vectors.new_zeros(*filled.shape, self.word_encoder.size)  # [B, S, H]
        if filled.any():
            sentences[filled] = self._sentence_vectors(vectors[filled], counts[filled]).to(sentences)
        hidden: Tensor = self.encoder(sentences, batch.lengths)
        return hidden

    def _sentence_vectors(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[N, H] the attended average of the words [N, W, e] of each sentence."""
        hidden = self.word_encoder(words, lengths)  # [N, W, H]
        scores = self.word_scorer(hidden)  # [N, W]
        a = scores.masked_fill(~inside(lengths, scores.shape[1]), -torch.inf).softmax(-1)
        return torch.bmm(a[:, None], hidden)[:, 0]


def _word_counts(batch: Batch) -> Tensor:
    """[B, S] words of each sentence."""
    return (batch.inputs != PAD).sum(-1)


def _level(kind: Level, size: int, options: HanOptions) -> Encoder:
    """An encoder of one level for vectors of that size."""
    if kind == "gru":
        return Bidirectional(nn.GRU, size, options.hidden)
    if kind == "conv":
        return Convolutions(size, 2 * options.hidden, options.kernels)
    return Same(size)


def _level_size(kind: Level, size: int, options: HanOptions) -> int:
    return size if kind == "none" else 2 * options.hidden
