"""Scorers: from a hidden state, and the query if there is one, to a score.

Every scorer is an affine map of the hidden state, f = W h + w, which may depend on the query Q,
and a head on top that gets only f. The exact deletions of an LSTM rely on these two parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import sqrt
from typing import Literal

import torch
from torch import Tensor, nn

from .products import affine

ScorerName = Literal["additive", "dot", "deep"]


class Scorer(nn.Module, ABC):
    """A module that gives scores [B, L] for hidden states [B, L, H], with a query [B, H] or without."""

    @abstractmethod
    def affine(self, query: Tensor | None) -> tuple[Tensor, Tensor]:
        """Give the affine map of the hidden state.

        Args:
            query: the encoded query [B, H], or None.

        Returns:
            W [F, H], or [B, F, H] if it depends on the example, and w [F] or [B, F].
        """

    @abstractmethod
    def head(self, features: Tensor) -> Tensor:
        """Turn features into scores.

        Args:
            features: the output of the affine map [..., F].

        Returns:
            Scores [...].
        """

    def forward(self, hidden: Tensor, query: Tensor | None = None) -> Tensor:
        """Score hidden states.

        Args:
            hidden: hidden states [B, L, H].
            query: the encoded query [B, H], or None.

        Returns:
            Scores [B, L].
        """
        weight, bias = self.affine(query)
        if bias.ndim == 2:
            bias = bias[:, None]  # [B, 1, F]
        return self.head(affine(hidden, weight, bias))  # [B, L]


class Additive(Scorer):
    """z = v·tanh(W1 h + b + W2 Q), half as wide as the hidden state."""

    def __init__(self, hidden: int, query: bool) -> None:
        super().__init__()
        width = max(1, hidden // 2)
        self.state = nn.Linear(hidden, width)
        self.query = nn.Linear(hidden, width, bias=False) if query else None
        self.v = nn.Linear(width, 1, bias=False)

    # tanh(x) = 2σ(2x) − 1: on a CPU σ is several times cheaper than tanh.
    def affine(self, query: Tensor | None) -> tuple[Tensor, Tensor]:
        """Give W and w."""
        return 2 * self.state.weight, 2 * _shifted(self.state.bias, self.query, query)

    def head(self, features: Tensor) -> Tensor:
        """Turn features into scores."""
        v = self.v.weight[0]  # [F]
        return torch.sigmoid(features) @ (2 * v) - v.sum()


class Dot(Scorer):
    """z = h·Q / √H, with a learned vector in place of Q if there is no query."""

    def __init__(self, hidden: int, query: bool) -> None:
        super().__init__()
        self.scale = 1 / sqrt(hidden)
        self.register_buffer("zero", torch.zeros(1), persistent=False)
        self.vector = None if query else nn.Parameter(torch.randn(hidden))

    def affine(self, query: Tensor | None) -> tuple[Tensor, Tensor]:
        """Give W and w."""
        against = query if self.vector is None else self.vector
        assert against is not None
        return self.scale * against.unsqueeze(-2), self.zero  # type: ignore[return-value]

    def head(self, features: Tensor) -> Tensor:
        """Turn features into scores."""
        return features.squeeze(-1)


class Deep(Scorer):
    """z = D(W_h h + b + W_Q Q), D(x) = W⁽ˢ⁾ ReLU(… W⁽¹⁾ ReLU(x)), half as wide as the hidden state."""

    def __init__(self, hidden: int, query: bool, layers: int) -> None:
        super().__init__()
        width = max(1, hidden // 2)
        self.state = nn.Linear(hidden, width)
        self.query = nn.Linear(hidden, width, bias=False) if query else None
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers - 1))
        self.last = nn.Linear(width, 1, bias=False)

    def affine(self, query: Tensor | None) -> tuple[Tensor, Tensor]:
        """Give W and w."""
        return self.state.weight, _shifted(self.state.bias, self.query, query)

    def head(self, features: Tensor) -> Tensor:
        """Turn features into scores."""
        x = torch.relu(features)
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x @ self.last.weight[0]


def _shifted(bias: Tensor, of_query: nn.Linear | None, query: Tensor | None) -> Tensor:
    """Add the query to a bias: b [F], or b + W Q [B, F]."""
    if of_query is None:
        return bias
    assert query is not None
    shift: Tensor = of_query(query)
    return bias + shift


def make_scorer(name: ScorerName, hidden: int, query: bool, layers: int = 2) -> Scorer:
    """Make a scorer.

    Args:
        name: "additive", "dot" or "deep".
        hidden: the size of a hidden state.
        query: whether scores depend on a query.
        layers: the number of layers of a deep scorer.

    Returns:
        The scorer, untrained.
    """
    if name == "deep":
        return Deep(hidden, query, layers)
    return {"additive": Additive, "dot": Dot}[name](hidden, query)
