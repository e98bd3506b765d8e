"""The results of some batches of a split: they can be sent, stored, and merged with the rest."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import chain

import torch
from torch import Tensor

from ...request.spec import digest
from ...results.observations import Array, AttributionCost, StoredScores
from ...store.weights import tensors_hash


class FilledTensor:
    """A tensor with one row per example, filled batch by batch.

    Batches that wait to be joined would need twice the memory. They would also lie between the large tensors
    that passes through the model make and free, and the gaps are too small for the next pass.
    """

    def __init__(self, size: int) -> None:
        self._size, self._filled = size, 0
        self._whole = torch.empty(0)

    def add(self, part: Tensor) -> None:
        """Put the rows of a batch [B, ...] behind those that are there."""
        if not self._filled:
            self._whole = part.new_empty((self._size, *part.shape[1:]))
        self._whole[self._filled : self._filled + len(part)] = part
        self._filled += len(part)

    @property
    def rows(self) -> Tensor:
        """All rows so far."""
        return self._whole[: self._filled]


@dataclass(frozen=True, slots=True)
class PartialResults:
    """What a model computed for some examples, and what every metric returned: one row per example."""

    rows: Tensor  # [n] where the examples are in the split
    logits: Tensor  # [n, C]
    answers: tuple[tuple[Tensor, ...], ...]  # by pairing of metric, explanation and reference, each [n, ...]
    traits: dict[str, Tensor]  # by importance method [n, 3]
    costs: dict[str, AttributionCost]  # likewise
    on_cpu: frozenset[str]
    scores: StoredScores | None

    def put_in_order(self) -> PartialResults:
        """The results of all examples of a split, in the order of the split.

        The tensors are changed in place, one after the other, so that no two copies of all are in memory.
        """
        order = self.rows.argsort()
        for tensor in (self.rows, self.logits, *chain(*self.answers), *self.traits.values()):
            tensor.copy_(tensor[order])
        return replace(self, scores=self.scores.taken(order.numpy()) if self.scores else None)

    def to_bytes(self) -> bytes:
        """The results as safetensors, with a checksum."""
        from safetensors.torch import save

        tensors = {"rows": self.rows, "logits": self.logits}
        for number, answer in enumerate(self.answers):
            tensors |= {f"answer.{number}.{place}": tensor for place, tensor in enumerate(answer)}
        tensors |= {f"traits.{number}": of for number, of in enumerate(self.traits.values())}
        if self.scores is not None:
            tensors["lengths"] = torch.from_numpy(self.scores.lengths)
            for name, arrays in _arrays(self.scores).items():
                tensors |= {f"{name}.{number}": torch.from_numpy(of) for number, of in enumerate(arrays)}
        about = json.dumps(
            {
                "answers": [len(answer) for answer in self.answers],
                "methods": list(self.traits),
                "costs": [[c.seconds, c.passes, c.examples, c.reused] for c in self.costs.values()],
                "on_cpu": sorted(self.on_cpu),
                "scores": self.scores and [list(self.scores.shares), bool(self.scores.without_top)],
            }
        )
        tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
        return save(tensors, {"about": about, "seal": _seal(tensors, about)})

    @classmethod
    def from_bytes(cls, content: bytes) -> PartialResults:
        """Read what `to_bytes` wrote; anything else is a ValueError."""
        from safetensors import SafetensorError
        from safetensors.torch import load

        try:
            tensors = load(content)
            size = int.from_bytes(content[:8], "little")
            written = json.loads(content[8 : 8 + size])["__metadata__"]
            if written["seal"] != _seal(tensors, written["about"]):
                raise ValueError("not what was written")
            about = json.loads(written["about"])
        except (SafetensorError, KeyError, TypeError) as error:
            raise ValueError(f"not what was written: {error}") from error
        methods = about["methods"]
        return cls(
            rows=tensors["rows"],
            logits=tensors["logits"],
            answers=tuple(
                tuple(tensors[f"answer.{number}.{place}"] for place in range(count))
                for number, count in enumerate(about["answers"])
            ),
            traits={name: tensors[f"traits.{number}"] for number, name in enumerate(methods)},
            costs={name: AttributionCost(*cost) for name, cost in zip(methods, about["costs"], strict=True)},
            on_cpu=frozenset(about["on_cpu"]),
            scores=_scores(about["scores"], tensors),
        )


def _arrays(scores: StoredScores) -> dict[str, list[Array]]:
    return {
        "shares": list(scores.shares.values()),
        "largest": list(scores.largest.values()),
        "without_top": list(scores.without_top.values()),
    }


def _scores(about: tuple[list[str], bool] | None, tensors: dict[str, Tensor]) -> StoredScores | None:
    if about is None:
        return None
    methods, deleted = about

    def arrays(name: str) -> dict[str, Array]:
        return {method: tensors[f"{name}.{number}"].numpy() for number, method in enumerate(methods)}

    lengths: Array = tensors["lengths"].numpy()
    without_top = arrays("without_top") if deleted else {}
    return StoredScores(lengths, arrays("shares"), arrays("largest"), without_top)


def _seal(tensors: dict[str, Tensor], about: str) -> str:
    return digest(tensors_hash(tensors), about)
