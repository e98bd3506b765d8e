"""The influence of every word on every hidden state of a transformer encoder, a layer at a time from the top.

The gradient of ‖h_p‖ enters the last layer at column p only, and leaves it through the key and the value of
every column, so that layer costs little. In the layers below it is in all columns, for every p; in a long
text the feed-forward network is then one matrix for each column, which is the same for every p. Each text is
taken alone, so nothing is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import cast

import torch
from torch import Tensor, nn

from attnx.formulas import at_once, passes_at_once

from .self_attention import Layer, SelfAttention


@torch.no_grad()
def self_attention_influence(encoder: SelfAttention, vectors: Tensor, lengths: Tensor) -> Tensor:
    """[B, P, L] ‖∂‖h_p‖₂/∂x_i‖₂ of word vectors x [B, L, E] and the hidden states that they lead to.

    0 where p or i is padding.
    """
    rows, columns, _ = vectors.shape
    sizes = vectors.new_zeros(rows, columns, columns, dtype=torch.float64)
    for row, n in enumerate(lengths.tolist()):
        if n:
            sizes[row, :n, :n] = _of_text(encoder, vectors[row, :n])
    return sizes


def _of_text(encoder: SelfAttention, vectors: Tensor) -> Tensor:
    """[L, L] of one text [L, E] without padding."""
    x = encoder.embedded(vectors[None])[0]  # [L, H]
    layers: list[_ReadLayer] = []
    for layer in encoder.layers:
        layers.append(_ReadLayer.of(cast("Layer", layer), x))
        x = layers[-1].output
    last, *below = reversed(layers)
    seeds = last.feed_forward_back(_of_norms(encoder.norm, x))  # [P, H], each at its own column
    n = len(x)
    many = 2 * n > encoder.size  # gradients at a column: then one product for all is cheaper
    matrices = [layer.feed_forward_matrices() if many else None for layer in below]
    # ‖W g‖ = ‖R g‖ for W = Q R, and R has no more rows than g has numbers
    to_words = sqrt(encoder.size) * torch.linalg.qr(encoder.project.weight.mT, mode="r").R.mT
    sizes = x.new_empty(n, n, dtype=torch.float64)
    for states in torch.arange(n, device=x.device).split(passes_at_once(n)):
        gradient = last.attention_back_from(states, seeds[states])  # [p, L, H]
        for read, matrix in zip(below, matrices, strict=True):
            if matrix is None:
                gradient = read.feed_forward_back(gradient)
            else:
                gradient = torch.bmm(gradient.transpose(0, 1), matrix).transpose(0, 1)
            gradient = read.attention_back(gradient)
        sizes[states] = _norm(gradient @ to_words)
    return sizes


def _norm(values: Tensor) -> Tensor:
    """Norms over the last dimension; squares of the gradients of far words underflow in single precision."""
    return torch.linalg.vector_norm(values, dim=-1, dtype=torch.float64)


def _of_norms(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    """[L, H] the gradients of ‖norm(x)‖ of each column."""
    states = norm(x)
    length = _norm(states)[:, None]
    seeds = (states / length.masked_fill(length == 0, 1.0)).to(states.dtype)
    return _Normed.of(norm, x).back(seeds @ _before(norm))


@dataclass(frozen=True, slots=True)
class _Normed:
    """Columns x [..., H] less their mean and divided by their standard deviation."""

    values: Tensor  # [..., H]
    scale: Tensor  # [..., 1] one over the standard deviation

    @classmethod
    def of(cls, norm: nn.LayerNorm, x: Tensor) -> _Normed:
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        scale = (variance + norm.eps).rsqrt()
        return cls((x - mean) * scale, scale)

    def back(self, gradient: Tensor) -> Tensor:
        """From a gradient with respect to the values, made by `_before`, to that with respect to x."""
        along = (gradient * self.values).mean(-1, keepdim=True)
        return torch.addcmul(gradient, along, self.values, value=-1).mul_(self.scale)


def _before(norm: nn.LayerNorm, weight: Tensor | None = None) -> Tensor:
    """[F, H] what brings a gradient with respect to weight·norm(x) to the values of `_Normed`.

    Without a weight [F, H], a gradient with respect to norm(x).
    """
    scaled = torch.diag(norm.weight) if weight is None else weight * norm.weight
    return scaled - scaled.mean(-1, keepdim=True)


@dataclass(frozen=True, slots=True)
class _ReadLayer:
    """A layer that has read one text, and the way back of gradients through its two halves."""

    layer: Layer
    before_attention: _Normed  # [L, H]
    queries: Tensor  # [heads, L, D] over √D, keys and values without it
    keys: Tensor
    values: Tensor
    weights: Tensor  # [heads, L, L] self-attention
    before_feed_forward: _Normed  # [L, H]
    active: Tensor  # [L, F] where the ReLU lets through
    output: Tensor  # [L, H]

    @classmethod
    def of(cls, layer: Layer, x: Tensor) -> _ReadLayer:
        q, k, v = layer.queries_keys_values(layer.before_attention(x)[None])[:, 0]
        q = q / sqrt(q.shape[-1])
        weights = (q @ k.mT).softmax(-1)
        attended = x + layer.mix((weights @ v).transpose(0, 1).flatten(1))
        first, activation, second = layer.feed_forward
        inner = first(layer.before_feed_forward(attended))
        return cls(
            layer=layer,
            before_attention=_Normed.of(layer.before_attention, x),
            queries=q,
            keys=k,
            values=v,
            weights=weights,
            before_feed_forward=_Normed.of(layer.before_feed_forward, attended),
            active=inner > 0,
            output=attended + second(activation(inner)),
        )

    def feed_forward_back(self, gradient: Tensor) -> Tensor:
        """From gradients [..., L, H] after x + feed_forward(norm(x)) to those before."""
        first, second = self._feed_forward_weights()
        return gradient + self.before_feed_forward.back((gradient @ second) * self.active @ first)

    def feed_forward_matrices(self) -> Tensor:
        """[L, H, H] what `feed_forward_back` multiplies a gradient at each column with."""
        first, second = self._feed_forward_weights()
        length, size = self.output.shape
        found = self.output.new_empty(length, size, size)
        for some in torch.arange(length, device=found.device).split(at_once(second.numel())):
            normed = self.before_feed_forward
            normed = _Normed(normed.values[some, None], normed.scale[some, None])
            found[some] = normed.back((second * self.active[some, None]) @ first)
        found.diagonal(dim1=1, dim2=2).add_(1.0)
        return found

    def attention_back(self, gradient: Tensor) -> Tensor:
        """From a gradient [p, L, H] after x + attention(norm(x)) to that before, for p numbers."""
        mixed = self._to_heads(gradient)  # [p, heads, L, D]
        scores = _through_softmax(mixed @ self.values.mT, self.weights)  # [p, heads, L, L]
        parts = (scores @ self.keys, scores.mT @ self.queries, self.weights.mT @ mixed)
        found = torch.zeros_like(gradient)
        for part, weight in zip(parts, self._before_heads(), strict=True):
            found += part.transpose(1, 2).flatten(2) @ weight
        return gradient + self.before_attention.back(found)

    def attention_back_from(self, states: Tensor, gradient: Tensor) -> Tensor:
        """The same [p, L, H] from a gradient [p, H] at one column `states` [p] for each number."""
        heads, _, size = self.keys.shape
        own = torch.arange(len(states), device=states.device)
        mixed = self._to_heads(gradient[:, None])[:, :, 0].transpose(0, 1)  # [heads, p, D]
        weights = self.weights[:, states]  # [heads, p, L]
        scores = _through_softmax(mixed @ self.values.mT, weights)  # [heads, p, L]
        of_query, of_key, of_value = (weight.unflatten(0, (heads, size)) for weight in self._before_heads())
        through = torch.cat([self.queries[:, states] @ of_key, mixed @ of_value])  # [2·heads, p, H]
        found = torch.einsum("hpl,hpe->ple", torch.cat([scores, weights]), through)
        found[own, states] += ((scores @ self.keys) @ of_query).sum(0)
        found = self.before_attention.back(found)
        found[own, states] += gradient
        return found

    def _feed_forward_weights(self) -> tuple[Tensor, Tensor]:
        """[F, H] of the first linear layer, before the norm, and [H, F] of the second."""
        first, _, second = cast("Sequence[nn.Linear]", self.layer.feed_forward)
        return _before(self.layer.before_feed_forward, first.weight), second.weight

    def _to_heads(self, gradient: Tensor) -> Tensor:
        """[p, heads, L, D] from a gradient [p, L, H] after the heads are mixed."""
        found: Tensor = gradient @ self.layer.mix.weight
        return found.unflatten(-1, (len(self.keys), -1)).transpose(1, 2)

    def _before_heads(self) -> tuple[Tensor, Tensor, Tensor]:
        """What brings gradients with respect to queries, keys and values before the norm, each [H, H]."""
        norm, linear = self.layer.before_attention, self.layer.keys_queries_values
        of_query, of_key, of_value = _before(norm, linear.weight).chunk(3)
        return of_query / sqrt(self.keys.shape[-1]), of_key, of_value


def _through_softmax(gradient: Tensor, weights: Tensor) -> Tensor:
    """From a gradient with respect to weights [..., L] to that with respect to their scores."""
    found = gradient * weights
    return found.addcmul_(weights, found.sum(-1, keepdim=True), value=-1)
