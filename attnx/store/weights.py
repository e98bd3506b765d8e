"""Trained weights, and those of trainings that go on, never unpickled."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..disk import delete_folder, in_the_way, write_file, written_aside
from ..request.spec import digest
from .home import home

if TYPE_CHECKING:
    from torch import Tensor

FILE = "weights.safetensors"
CHECKPOINTS = ".checkpoints"  # the folder of them beside the weights


class Weights:
    """Trained weights as safetensors with their training record, named by what determines them."""

    what, remedy = "weights", "training again"

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or home() / "weights"

    @property
    def checkpoints(self) -> Checkpoints:
        """Where the trainings of these weights keep how far they are."""
        return Checkpoints(self.root / CHECKPOINTS)

    def find(self, key: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Weights and their record; None where there are none, or damaged ones, which is told."""
        from safetensors import SafetensorError, safe_open

        if os.path.isfile(self.root / key):
            raise in_the_way(self.root / key)
        try:
            with safe_open(self.root / key / FILE, framework="pt") as file:
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                kept = file.metadata() or {}
            if kept["seal"] != _seal(key, state, kept["record"]):
                raise ValueError("not what was written")
            return state, json.loads(kept["record"])
        except FileNotFoundError:  # another writer may be replacing it
            return None
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            self.warn_damaged(key, error)
            return None

    def warn_damaged(self, key: str, error: Exception) -> None:
        """Warn that the weights of this name are as good as none."""
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        said = f"warning: damaged {self.what} in '{self.root / key}' ({reason}): {self.remedy}"
        print(said, file=sys.stderr)

    def keep(self, key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> bool:
        """Write weights, if there is room: without, what was trained is used all the same, and told."""
        try:
            self.write(key, state, record)
        except OSError as error:
            reason = error.strerror or error
            print(f"warning: {self.what} not kept in '{self.root}' ({reason}): going on", file=sys.stderr)
            return False
        return True

    def write(self, key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        with written_aside(self.root / key) as folder:
            (folder / FILE).write_bytes(_whole(key, state, record))

    def delete(self, key: str) -> None:
        """Delete the weights of this name, if there are any."""
        with suppress(OSError):  # they are in nobody's way, and may be cleared away another time
            if (self.root / key).is_dir():
                delete_folder(self.root / key)


class Checkpoints(Weights):
    """Where trainings are that have not ended, in the same way as weights and under their names."""

    what, remedy = "checkpoint", "training from the start"

    def write(self, key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        """Write a checkpoint over the last one: there is one of them at every moment."""
        write_file(self.root / key / FILE, _whole(key, state, record))


def _whole(key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> bytes:
    """Tensors, record and seal as the bytes of one file."""
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in state.items()}
    text = json.dumps(record)
    return save(tensors, {"record": text, "seal": _seal(key, tensors, text)})


def _seal(key: str, state: Mapping[str, Tensor], record: str) -> str:
    """What weights, their record and their name must agree with."""
    return digest(key, tensors_hash(state), record)


def tensors_hash(state: Mapping[str, Tensor]) -> str:
    """A hash of named tensors, independent of how they are stored."""
    hashed = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        hashed.update(f"{name}{tensor.dtype}{tuple(tensor.shape)}".encode())
        hashed.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return hashed.hexdigest()[:16]
