"""Checkpoints: a training that was cut off goes on after its last epoch, and ends in the same weights."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...protocols import Model
from ...results.observations import Epoch, TrainingRecord
from ...store.weights import Checkpoints

SHARE = 0.05  # of the time of a training that writing its checkpoints may take


@dataclass
class TrainingHistory:
    """How far a training is: what was seen after every epoch, and the best weights so far."""

    course: list[Epoch]
    best: Epoch
    best_state: dict[str, Tensor]


@dataclass(frozen=True)
class TrainingState:
    """Everything that a step of training changes."""

    model: Model
    optimizer: torch.optim.Optimizer
    scaler: torch.amp.GradScaler
    generator: torch.Generator
    device: torch.device

    def state(self) -> dict[str, Tensor]:
        """All of it but the scaler, as tensors by name."""
        return {
            **_prefixed("model", self.model.state_dict()),
            **{
                f"optimizer.{number}.{name}": value
                for number, values in self.optimizer.state_dict()["state"].items()
                for name, value in values.items()
            },
            "random.order": self.generator.get_state(),
            **_prefixed("random", _randomness(self.device)),
        }

    def restore(self, state: Mapping[str, Tensor], scaler: dict[str, Any]) -> None:
        self.model.load_state_dict(_below("model", state))
        known: dict[int, dict[str, Tensor]] = {}
        for path, value in _below("optimizer", state).items():
            number, _, name = path.partition(".")
            known.setdefault(int(number), {})[name] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": known})
        if scaler:
            self.scaler.load_state_dict(scaler)
        self.generator.set_state(state["random.order"])
        torch.set_rng_state(state["random.cpu"])
        if "random.cuda" in state:
            torch.cuda.set_rng_state(state["random.cuda"], self.device)


class Checkpoint:
    """The checkpoint of one training, under the name that its weights will have."""

    def __init__(self, kept: Checkpoints, key: str) -> None:
        self._kept, self._key = kept, key
        self._rest_until = 0.0

    def resume(self, moving: TrainingState, followed: Sequence[str]) -> TrainingHistory | None:
        """Bring a training to where it was cut off; None, and nothing changed, where nothing is kept.

        One that did not follow these metrics is of no use: its course would have gaps.
        """
        found = self._kept.find(self._key)
        if found is None:
            return None
        state, kept = found
        record = TrainingRecord.model_validate(kept["record"]).following(followed)
        if record is None:
            return None
        if shapes(_below("model", state)) != shapes(moving.model.state_dict()):
            self._kept.warn_damaged(self._key, ValueError("another model's weights"))
            return None
        moving.restore(state, kept["scaler"])
        course = list(record.course)
        best = course[record.best_epoch]
        return TrainingHistory(course, best, _below("model" if best is course[-1] else "best", state))

    def keep(self, moving: TrainingState, standing: TrainingHistory) -> None:
        """Write where a training is, unless that would take more than its share of time."""
        started = time.monotonic()
        if started < self._rest_until:
            return
        state = moving.state()
        if standing.best is not standing.course[-1]:
            state |= _prefixed("best", standing.best_state)
        record = TrainingRecord(course=tuple(standing.course), best_epoch=standing.best.epoch)
        known = {"record": record.model_dump(), "scaler": moving.scaler.state_dict()}
        written = self._kept.keep(self._key, state, known)
        ended = time.monotonic()
        self._rest_until = ended + (ended - started) / SHARE if written else float("inf")

    def remove(self) -> None:
        self._kept.delete(self._key)


def _randomness(device: torch.device) -> dict[str, Tensor]:
    """The state of torch's generators that a pass of a model draws from."""
    on_cpu = {"cpu": torch.get_rng_state()}
    return on_cpu | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def _prefixed(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in state.items()}


def _below(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}."
    return {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}


def shapes(state: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    """What tells the weights of one model from those of another."""
    return {name: tensor.shape for name, tensor in state.items()}
