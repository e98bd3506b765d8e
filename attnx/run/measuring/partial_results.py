"""What was seen of some of the batches of a split: it can be carried, kept and chained with the rest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...request.spec import digest
from ...results.observations import Array, AttributionCost, StoredScores
from ...store.weights import tensors_hash


@dataclass(frozen=True, slots=True)
class PartialResults:
    """What a model did on some examples, and what every metric said or kept of them, one row an example."""

    rows: Tensor  # [n] where the examples are in the split
    logits: Tensor  # [n, C]
    said: tuple[tuple[Tensor, ...], ...]  # by pairing of metric, explanation and reference, each [n, ...]
    traits: dict[str, Tensor]  # by importance method [n, 2]
    costs: dict[str, AttributionCost]  # likewise
    on_cpu: frozenset[str]
    kept: StoredScores | None

    @classmethod
    def chained(cls, parts: Sequence[PartialResults]) -> PartialResults:
        """The parts of a split behind one another."""
        first = parts[0]
        kept = [part.kept for part in parts if part.kept is not None]
        return cls(
            rows=torch.cat([part.rows for part in parts]),
            logits=torch.cat([part.logits for part in parts]),
            said=tuple(
                tuple(torch.cat(tensors) for tensors in zip(*of, strict=True))
                for of in zip(*(part.said for part in parts), strict=True)
            ),
            traits={name: torch.cat([part.traits[name] for part in parts]) for name in first.traits},
            costs={name: _total([part.costs[name] for part in parts]) for name in first.costs},
            on_cpu=frozenset().union(*(part.on_cpu for part in parts)),
            kept=StoredScores.chained(kept) if kept else None,
        )

    def in_order(self) -> PartialResults:
        """All examples of a split, in the order of the split."""
        order = self.rows.argsort()
        return PartialResults(
            rows=self.rows[order],
            logits=self.logits[order],
            said=tuple(tuple(tensor[order] for tensor in tensors) for tensors in self.said),
            traits={name: values[order] for name, values in self.traits.items()},
            costs=self.costs,
            on_cpu=self.on_cpu,
            kept=self.kept.taken(order.numpy()) if self.kept else None,
        )

    def to_bytes(self) -> bytes:
        """As safetensors, with a seal."""
        from safetensors.torch import save

        tensors = {"rows": self.rows, "logits": self.logits}
        for number, said in enumerate(self.said):
            tensors |= {f"said.{number}.{place}": tensor for place, tensor in enumerate(said)}
        tensors |= {f"traits.{number}": of for number, of in enumerate(self.traits.values())}
        if self.kept is not None:
            tensors["lengths"] = torch.from_numpy(self.kept.lengths)
            for name, arrays in _rooms(self.kept).items():
                tensors |= {f"{name}.{number}": torch.from_numpy(of) for number, of in enumerate(arrays)}
        about = json.dumps(
            {
                "said": [len(said) for said in self.said],
                "methods": list(self.traits),
                "costs": [[cost.seconds, cost.passes, cost.examples] for cost in self.costs.values()],
                "on_cpu": sorted(self.on_cpu),
                "kept": None if self.kept is None else [list(self.kept.shares), bool(self.kept.without_top)],
            }
        )
        tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
        return save(tensors, {"about": about, "seal": _seal(tensors, about)})

    @classmethod
    def from_bytes(cls, content: bytes) -> PartialResults:
        """What `to_bytes` wrote; ValueError for anything else."""
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
            said=tuple(
                tuple(tensors[f"said.{number}.{place}"] for place in range(count))
                for number, count in enumerate(about["said"])
            ),
            traits={name: tensors[f"traits.{number}"] for number, name in enumerate(methods)},
            costs={name: AttributionCost(*cost) for name, cost in zip(methods, about["costs"], strict=True)},
            on_cpu=frozenset(about["on_cpu"]),
            kept=_kept(about["kept"], tensors),
        )


def _total(costs: Sequence[AttributionCost]) -> AttributionCost:
    total = AttributionCost(0.0, 0, 0)
    for cost in costs:
        total = total.plus(cost.seconds, cost.passes, cost.examples)
    return total


def _rooms(kept: StoredScores) -> dict[str, list[Array]]:
    return {
        "shares": list(kept.shares.values()),
        "largest": list(kept.largest.values()),
        "without_top": list(kept.without_top.values()),
    }


def _kept(about: tuple[list[str], bool] | None, tensors: dict[str, Tensor]) -> StoredScores | None:
    if about is None:
        return None
    methods, deleted = about

    def room(name: str) -> dict[str, Array]:
        return {method: tensors[f"{name}.{number}"].numpy() for number, method in enumerate(methods)}

    lengths: Array = tensors["lengths"].numpy()
    return StoredScores(lengths, room("shares"), room("largest"), room("without_top") if deleted else {})


def _seal(tensors: dict[str, Tensor], about: str) -> str:
    return digest(tensors_hash(tensors), about)
