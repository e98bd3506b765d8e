from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from attnx.plugin import AttentionProjection, Batch, Example, Model, TaskData, Trace, UsageError

from .networks import CONVOLUTIONS, make_network
from .options import FcamOptions

UNKNOWN = 0


class Fcam(nn.Module):
    """Focus-classify model: scores each segment separately and classifies their weighted average.

    z_j = f(x_j), a = projection(z), logits = g(Σ_j a_j φ(x_j)), where x_j are the segments (points,
    images or words), f is the focus network, g the classifier, and φ the segment itself (averaging layer
    0) or a hidden layer of f.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    provides: tuple[str, ...] = (*Model.provides, "deletion")

    def __init__(self, data: TaskData, projection: AttentionProjection, options: FcamOptions) -> None:
        super().__init__()
        self.projection = projection
        self.provides = (*type(self).provides, *options.also_provides)
        if any(example.query is not None for example in data.train):
            raise UsageError(
                "fcam cannot read queries: for this task choose bilstm, cnn, mlp or transformer."
            )
        if data.features is None:
            counts = Counter(word for example in data.train for word in example.units)
            words = sorted(word for word, count in counts.items() if count >= data.min_count)
            self.row_of_word = {word: row for row, word in enumerate(words, start=1)}
            self.vectors: nn.Module = nn.Embedding(len(words) + 1, options.embedding)
            shape: tuple[int, ...] = (options.embedding,)
        else:
            self.vectors = _Features(data.features)
            shape = data.features.shape[1:]
        usual = "cnn" if len(shape) == 3 else "mlp"
        focus = usual if options.focus == "auto" else options.focus
        classifier = usual if options.classifier == "auto" else options.classifier
        if "cnn" in (focus, classifier) and len(shape) != 3:
            raise UsageError(f"a cnn needs segments that are images; these have shape {tuple(shape)}")
        self.oracle = _oracle(data) if focus == "oracle" else None
        self.focus = make_network(
            "linear" if self.oracle else focus, shape, 1, options.width, options.channels
        )
        if self.oracle:
            self.focus.requires_grad_(False)
        self.layer = _averaging_layer(options.layer, len(self.focus.layers))
        inside = shape if self.layer == 0 else (self.focus.sizes[self.layer],)
        self.classifier = make_network(
            classifier, inside, len(data.label_names), options.width, options.channels
        )

    @classmethod
    def build(cls, data: TaskData, projection: AttentionProjection, options: FcamOptions) -> Self:
        return cls(data, projection, options)

    def encode(self, examples: Sequence[Example]) -> Batch:
        return Batch.padded(examples, [self._rows(example) for example in examples], padding=UNKNOWN)

    def _rows(self, example: Example) -> Sequence[int]:
        if example.rows is not None:
            return example.rows
        return [self.row_of_word.get(word, UNKNOWN) for word in example.units]

    def embed(self, batch: Batch) -> Tensor:
        return self.vectors(batch.inputs)  # [B, L, E]

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        hidden = self.focus.up_to(embeddings, self.layer)  # [B, L, H]
        scores = self._score(batch, hidden)  # [B, L]
        a = self.projection(scores, batch.mask) if attention is None else attention  # [B, L]
        return Trace(batch, embeddings, hidden, scores, a, self._classify(hidden, a))

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        scores = self._score(batch, hidden)  # [B, L]
        a = self.projection(scores, batch.mask)  # [B, L]
        return scores, a, self._classify(hidden, a)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        return self._classify(trace.hidden, attention)

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        learned = self.projection.parameters() if isinstance(self.projection, nn.Module) else ()
        return (*self.focus.parameters(), *learned)

    def _score(self, batch: Batch, hidden: Tensor) -> Tensor:
        """z_j = f(x_j), the rest of f above the averaging layer: [B, L]."""
        network = (
            self.focus.from_layer(hidden, self.layer) if self.oracle is None else self.oracle(batch.inputs)
        )
        return network.squeeze(-1)

    def _classify(self, hidden: Tensor, attention: Tensor) -> Tensor:
        """g(Σ_j a_j φ(x_j)) for attention [B, L], or [B, K, L] -> [B, K, C]."""
        if attention.ndim == 3:
            return self.classifier(torch.bmm(attention, hidden))
        return self.classifier(torch.bmm(attention[:, None], hidden)[:, 0])


class _Features(nn.Module):
    """Looks up segments in the task's feature vectors, which are data and not weights."""

    table: Tensor

    def __init__(self, features: np.ndarray[Any, Any]) -> None:
        super().__init__()
        flat = torch.from_numpy(features.reshape(len(features), -1))
        self.register_buffer("table", flat, persistent=False)  # [R, E]

    def forward(self, rows: Tensor) -> Tensor:
        found = self.table[rows]
        return found / 127.5 - 1 if found.dtype == torch.uint8 else found  # the bytes of an image: -1 to 1


def _oracle(data: TaskData) -> _Features:
    if data.oracle is None:
        raise UsageError("focus=oracle needs a task with a known perfect focus, e.g. sdc-error-mode-1")
    return _Features(data.oracle)


def _averaging_layer(layer: int, layers: int) -> int:
    if layer > layers:
        raise UsageError(
            f"layer={layer}: the focus network has {layers} hidden layers; a cnn has {CONVOLUTIONS}"
        )
    return layers if layer == -1 else layer
