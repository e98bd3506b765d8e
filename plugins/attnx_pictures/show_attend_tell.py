from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from attnx.plugin import AttentionProjection, Batch, Example, Model, TaskData, Trace, UsageError

from .options import ShowAttendTellOptions
from .patches import PatchEncoder, Table

PAD, START, UNKNOWN = 0, 1, 2  # of the words so far


class ShowAttendTell(nn.Module):
    """Captioning model: predicts the next word of a caption with attention over image patches.

    h = CNN(image), one hidden state per patch; s = LSTM(the words so far); z_i = score(h_i, s); a =
    projection(z); logits = W [Σ a_i h_i; s] + b. A deleted patch is grey and gets no attention.
    """

    needs: ClassVar[tuple[str, ...]] = ("features", "query")
    provides: ClassVar[tuple[str, ...]] = (*Model.provides, "deletion", "linear-decoder", "reads-query")

    def __init__(
        self, data: TaskData, projection: AttentionProjection, options: ShowAttendTellOptions
    ) -> None:
        super().__init__()
        if data.features is None:
            raise UsageError("show-attend-tell needs images: choose a task such as shapes-captions.")
        words = sorted({word for example in data.train for word in example.query or ()})
        self.row_of_word = {word: row for row, word in enumerate(words, start=UNKNOWN + 1)}
        self.projection = projection
        self.patches = Table(data.features)
        self.encoder = PatchEncoder(data.features.shape[1:], len(data.train[0].units), options.hidden)
        self.word_vectors = nn.Embedding(len(words) + UNKNOWN + 1, options.embedding, padding_idx=PAD)
        self.decoder = nn.LSTM(options.embedding, options.hidden, batch_first=True)
        self.scorer = _Scorer(options.hidden, options.scorer)
        self.dropout = nn.Dropout(options.dropout)
        self.output = nn.Linear(2 * options.hidden, len(data.label_names))

    @classmethod
    def build(cls, data: TaskData, projection: AttentionProjection, options: ShowAttendTellOptions) -> Self:
        return cls(data, projection, options)

    def encode(self, examples: Sequence[Example]) -> Batch:
        rows = [example.rows or () for example in examples]
        return Batch.padded(examples, rows, query=self._words(examples))

    def _words(self, examples: Sequence[Example]) -> Tensor:
        """[B, Q] the words so far in numbers, after a start mark."""
        longest = max(len(example.query or ()) for example in examples)
        rows = np.full((len(examples), 1 + longest), PAD)
        rows[:, 0] = START
        for row, example in zip(rows, examples, strict=True):
            words = example.query or ()
            row[1 : 1 + len(words)] = [self.row_of_word.get(word, UNKNOWN) for word in words]
        return torch.from_numpy(rows)

    def embed(self, batch: Batch) -> Tensor:
        pixels: Tensor = self.patches(batch.inputs)
        return pixels  # [B, L, E]

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        hidden = self.encoder(embeddings, batch.unit_index)  # [B, L, H]
        state = self._state(batch)  # [B, H]
        scores = self.scorer(hidden, state)  # [B, L]
        a = self.projection(scores, batch.mask) if attention is None else attention
        return Trace(batch, embeddings, hidden, scores, a, self._say(hidden, a, state))

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        state = self._state(batch)
        scores = self.scorer(hidden, state)
        a = self.projection(scores, batch.mask)
        return scores, a, self._say(hidden, a, state)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        return self._say(trace.hidden, attention, self._state(trace.batch))

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        learned = self.projection.parameters() if isinstance(self.projection, nn.Module) else ()
        return (*self.scorer.parameters(), *learned)

    def _state(self, batch: Batch) -> Tensor:
        """Return s [B, H]: the state of the decoder after the words so far."""
        assert batch.query is not None
        states: Tensor = self.decoder(self.word_vectors(batch.query))[0]  # [B, Q, H]
        last = (batch.query != PAD).sum(1) - 1  # [B]
        return states[torch.arange(len(last), device=last.device), last]

    def _say(self, hidden: Tensor, attention: Tensor, state: Tensor) -> Tensor:
        """Logits [B, C] under attention [B, L], or [B, K, C] under [B, K, L]."""
        several = attention if attention.ndim == 3 else attention[:, None]
        context = torch.bmm(several, hidden)  # [B, K, H]
        seen = torch.cat([context, state[:, None].expand_as(context)], -1)  # [B, K, 2H]
        logits: Tensor = self.output(self.dropout(seen))
        return logits if attention.ndim == 3 else logits[:, 0]


class _Scorer(nn.Module):
    """z = v·tanh(W h + b + V s), or h·W s / √H."""

    def __init__(self, hidden: int, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.of_patch = nn.Linear(hidden, hidden)
        self.of_state = nn.Linear(hidden, hidden, bias=False)
        self.v = nn.Linear(hidden, 1, bias=False)

    def forward(self, hidden: Tensor, state: Tensor) -> Tensor:
        asked: Any = self.of_state(state)  # [B, H]
        if self.kind == "dot":
            return torch.bmm(self.of_patch(hidden), asked[:, :, None])[..., 0] / hidden.shape[-1] ** 0.5
        scores: Tensor = self.v(torch.tanh(self.of_patch(hidden) + asked[:, None]))
        return scores[..., 0]  # [B, L]
