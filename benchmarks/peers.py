"""What text benchmarks compare with: the original formulation of the attention classifier, and texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from attnx.formulas.scorers import Additive
from attnx.plugin import Example
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.encoders import inside

WORDS = 12000


def random_texts(count: int, shortest: int, longest: int, seed: int = 0) -> Sequence[Example]:
    """Texts of random words, every word of the vocabulary in one of them as far as there is room."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(shortest, longest + 1, count)
    return tuple(
        Example(f"text-{i}", tuple(f"w{word}" for word in rng.integers(0, WORDS, length)), int(i % 2))
        for i, length in enumerate(lengths)
    )


class PackedBiLstm(nn.Module):
    """The same model with the same weights: packed bidirectional LSTM, tanh, broadcast context."""

    def __init__(self, model: BiLstm) -> None:
        super().__init__()
        size, hidden = model.word_vectors.embedding_dim, model.encoder.size // 2
        self.word_vectors = nn.Embedding(len(model.vocabulary), size, padding_idx=0)
        self.rnn = nn.LSTM(size, hidden, batch_first=True, bidirectional=True)
        self.first = nn.Linear(2 * hidden, hidden)
        self.second = nn.Linear(hidden, 1, bias=False)
        self.decoder = nn.Linear(2 * hidden, model.decoder.out_features)
        scorer = model.scorer
        assert isinstance(scorer, Additive)
        self.word_vectors.load_state_dict(model.word_vectors.state_dict())
        self.first.load_state_dict(scorer.state.state_dict())
        self.second.load_state_dict(scorer.v.state_dict())
        self.decoder.load_state_dict(model.decoder.state_dict())
        state = model.encoder.ahead.state_dict()  # type: ignore[union-attr]
        back = model.encoder.back.state_dict()  # type: ignore[union-attr]
        self.rnn.load_state_dict({**state, **{f"{name}_reverse": value for name, value in back.items()}})

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits [B, C] of ids [B, L] with a start and an end mark."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.word_vectors(ids), lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(
            self.rnn(packed)[0], batch_first=True, total_length=ids.shape[1]
        )  # [B, L, H]
        scores = self.second(torch.tanh(self.first(states))).squeeze(-1)  # [B, L]
        words = inside(lengths - 1, ids.shape[1])
        words[:, 0] = False
        attention = scores.masked_fill(~words, -torch.inf).softmax(-1)
        logits: Tensor = self.decoder((attention.unsqueeze(-1) * states).sum(1))
        return logits
