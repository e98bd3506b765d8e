"""Checkpoints: interrupted training resumes after its last epoch, and ends in the same weights."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from ...protocols import Model
from ...results.observations import Epoch, TrainingRecord
from ...store.weights import Checkpoints

SHARE = 0.05  # of the training time that writing checkpoints may take


@dataclass
class TrainingHistory:
    """Training so far: the state after every epoch, and the best weights."""

    course: list[Epoch]
    best: Epoch
    best_state: dict[str, Tensor]  # of what is learned


@dataclass(frozen=True)
class TrainingState:
    """Everything that a training step changes."""

    model: Model
    optimizer: torch.optim.Optimizer
    scaler: torch.amp.GradScaler
    generator: torch.Generator
    device: torch.device

    def state(self) -> dict[str, Tensor]:
        """All of it except the scaler, as tensors by name."""
        return {
            **_prefixed("model", learned_state(self.model)),
            **{
                f"optimizer.{number}.{name}": value
                for number, values in self.optimizer.state_dict()["state"].items()
                for name, value in values.items()
            },
            "random.order": self.generator.get_state(),
            **_prefixed("random", _randomness(self.device)),
        }

    def restore(self, state: Mapping[str, Tensor], scaler: dict[str, Any]) -> None:
        """Set everything to a stored state."""
        load_learned(self.model, _below("model", state))
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
    """The checkpoint of one training run, under the name that its weights will have."""

    def __init__(self, store: Checkpoints, key: str) -> None:
        self._store, self._key = store, key
        self._not_before = 0.0  # when the next checkpoint may be written

    def resume(self, state: TrainingState, followed: Sequence[str]) -> TrainingHistory | None:
        """Restore the state of interrupted training; None, and nothing changed, if none is stored.

        A checkpoint that did not follow these metrics cannot be used: their curves would have gaps.
        """
        stored = self._store.find(self._key)
        if stored is None:
            return None
        tensors, known = stored
        record = TrainingRecord.model_validate(known["record"]).following(followed)
        if record is None:
            return None
        if shapes(_below("model", tensors)) != shapes(learned_state(state.model)):
            self._store.warn_damaged(self._key, ValueError("another model's weights"))
            return None
        state.restore(tensors, known["scaler"])
        course = list(record.course)
        best = course[record.best_epoch]
        return TrainingHistory(course, best, _below("model" if best is course[-1] else "best", tensors))

    def write(self, state: TrainingState, history: TrainingHistory) -> None:
        """Store the state of training, unless that would take more than its share of time."""
        started = time.monotonic()
        if started < self._not_before:
            return
        tensors = state.state()
        if history.best is not history.course[-1]:
            tensors |= _prefixed("best", history.best_state)
        record = TrainingRecord(course=tuple(history.course), best_epoch=history.best.epoch)
        known = {"record": record.model_dump(), "scaler": state.scaler.state_dict()}
        written = self._store.keep(self._key, tensors, known)
        ended = time.monotonic()
        self._not_before = ended + (ended - started) / SHARE if written else float("inf")

    def remove(self) -> None:
        """Delete the checkpoint, if there is one."""
        self._store.delete(self._key)


def learned_state(model: Model) -> dict[str, Tensor]:
    """The state of a model without its frozen parameters: all that training can change."""
    named = cast("nn.Module", model).named_parameters(remove_duplicate=False)
    frozen = {name for name, parameter in named if not parameter.requires_grad}
    return {name: tensor for name, tensor in model.state_dict().items() if name not in frozen}


def load_learned(model: Model, state: Mapping[str, Tensor]) -> None:
    """Set a model to the state of what it learns."""
    model.load_state_dict({**model.state_dict(), **state})


def _randomness(device: torch.device) -> dict[str, Tensor]:
    """The state of the random generators that a forward pass uses."""
    on_cpu = {"cpu": torch.get_rng_state()}
    return on_cpu | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def _prefixed(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in state.items()}


def _below(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}."
    return {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}


def shapes(state: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    """The shapes of weights, which differ between models."""
    return {name: tensor.shape for name, tensor in state.items()}
