"""Stores trained weights, and checkpoints of training runs that have not finished, without pickle."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..disk import delete_folder, in_the_way, write_file, written_aside
from ..errors import AttnxWarning, in_one_line
from ..request.spec import digest
from .home import home

if TYPE_CHECKING:
    from torch import Tensor

FILE = "weights.safetensors"
ABOUT = "attnx"  # the entry of the file that has record and checksum
CHECKPOINTS = ".checkpoints"  # a folder inside that of the weights


class Weights:
    """Trained weights as safetensors with their training record, one folder per key."""

    what, remedy = "weights", "the model is trained again"

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or home() / "weights"

    @property
    def checkpoints(self) -> Checkpoints:
        """The checkpoints of training runs that will produce these weights."""
        return Checkpoints(self.root / CHECKPOINTS)

    def has(self, key: str) -> bool:
        """Whether there is a file of weights under this key; reading it may still fail."""
        return bool(key) and (self.root / key / FILE).is_file()

    def find(self, key: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Weights and their record; None if there are none, or damaged ones, with a warning."""
        from safetensors import SafetensorError, safe_open

        if os.path.isfile(self.root / key):
            raise in_the_way(self.root / key)
        try:
            with safe_open(self.root / key / FILE, framework="pt") as file:
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                stored = _about(file.metadata() or {})
            if stored["seal"] != _seal(key, state, stored["record"]):
                raise ValueError("the content does not match its checksum")
            return state, json.loads(stored["record"])
        except FileNotFoundError:  # or another process is replacing it
            return None
        except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
            self.warn_damaged(key, error)
            return None

    def warn_damaged(self, key: str, error: Exception) -> None:
        """Warn that the weights of this key are damaged and will not be used."""
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        text = f"The {self.what} in '{self.root / key}' cannot be read ({reason}); {self.remedy}."
        warnings.warn(text, AttnxWarning, stacklevel=3)

    def keep(self, key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> bool:
        """Write weights; if that fails, warn and return False, so that the work can go on."""
        try:
            self.write(key, state, record)
        except Exception as error:  # a trained model is not lost, whatever prevents that it is stored
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else in_one_line(error)
            text = f"The {self.what} could not be saved in '{self.root}': {reason.rstrip('.')}."
            warnings.warn(text, AttnxWarning, stacklevel=2)
            return False
        return True

    def write(self, key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        with written_aside(self.root / key) as folder:
            (folder / FILE).write_bytes(_whole(key, state, record))

    def delete(self, key: str) -> None:
        """Delete the weights of this key, if there are any."""
        with suppress(OSError):  # they do no harm and can be deleted later
            if (self.root / key).is_dir():
                delete_folder(self.root / key)


class Checkpoints(Weights):
    """Checkpoints of training runs that have not finished, stored like weights and under their keys."""

    what, remedy = "checkpoint", "training starts from the beginning"

    def write(self, key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        """Replace the last checkpoint; a complete one exists at every moment."""
        write_file(self.root / key / FILE, _whole(key, state, record))


def _whole(key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> bytes:
    """Tensors, record and checksum as the bytes of one file."""
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in state.items()}
    text = json.dumps(record)
    about = {"record": text, "seal": _seal(key, tensors, text)}
    return save(tensors, {ABOUT: json.dumps(about)})  # one entry: several are written in any order


def _about(stored: Mapping[str, str]) -> Mapping[str, str]:
    """Record and checksum of a file, also of one that has them as entries of their own."""
    return json.loads(stored[ABOUT]) if ABOUT in stored else stored


def _seal(key: str, state: Mapping[str, Tensor], record: str) -> str:
    """The checksum of weights, their record and their key."""
    return digest(key, tensors_hash(state), record)


def tensors_hash(state: Mapping[str, Tensor]) -> str:
    """A hash of named tensors, independent of how they are stored."""
    hashed = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        hashed.update(f"{name}{tensor.dtype}{tuple(tensor.shape)}".encode())
        hashed.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return hashed.hexdigest()[:16]
