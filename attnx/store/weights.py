"""Trained weights, never unpickled."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..request.spec import digest
from .home import home, in_the_way, written_aside

if TYPE_CHECKING:
    from torch import Tensor


class Weights:
    """Trained weights as safetensors with their training record, named by what determines them."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or home() / "weights"

    def find(self, key: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Weights and their record; None where there are none, or damaged ones, which is told."""
        from safetensors import SafetensorError, safe_open

        if os.path.isfile(self.root / key):
            raise in_the_way(self.root / key)
        try:
            with safe_open(self.root / key / "weights.safetensors", framework="pt") as file:
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                kept = file.metadata() or {}
            if kept["seal"] != _seal(key, state, kept["record"]):
                raise ValueError("not what was written")
            return state, json.loads(kept["record"])
        except FileNotFoundError:  # another writer may be replacing it
            return None
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            self.tell_damaged(key, error)
            return None

    def tell_damaged(self, key: str, error: Exception) -> None:
        """Warn that the weights of this name are as good as none."""
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        print(f"warning: damaged weights in '{self.root / key}' ({reason}): training again", file=sys.stderr)

    def keep(self, key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        """Write weights, if there is room: without, what was trained is used all the same, and told."""
        try:
            self.write(key, state, record)
        except OSError as error:
            reason = error.strerror or error
            print(f"warning: weights not kept in '{self.root}' ({reason}): going on", file=sys.stderr)

    def write(self, key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        from safetensors.torch import save

        tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in state.items()}
        with written_aside(self.root / key) as folder:
            text = json.dumps(record)
            whole = save(tensors, {"record": text, "seal": _seal(key, tensors, text)})
            (folder / "weights.safetensors").write_bytes(whole)


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
