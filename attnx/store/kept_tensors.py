"""Tensors that would be computed again, kept on disk within a budget: hidden states and importances.

Each file is safetensors with a checksum; what is damaged is computed again. What was not used for longest
is deleted first. Nothing depends on a file being there.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from ..disk import hidden_folder
from ..errors import AttnxWarning, UsageError
from ..results.overview import KeptFiles
from .home import home

if TYPE_CHECKING:
    from torch import Tensor

Room = Literal["states", "importances"]
ROOMS: Final[tuple[Room, ...]] = ("states", "importances")
VARIABLE: Final = "ATTNX_KEEP_GB"
DEFAULT: Final = 4.0  # GB in all rooms together
ENDING: Final = ".safetensors"


@dataclass(frozen=True, slots=True)
class KeptFile:
    """One file of kept tensors."""

    path: Path
    size: int  # bytes
    used: datetime  # last


def kept_root() -> Path:
    """The folder of all that is kept."""
    return home() / "kept"


def budget() -> int:
    """How many bytes may be kept: those of ATTNX_KEEP_GB, 0 to keep nothing."""
    given = os.environ.get(VARIABLE, "")
    try:
        gigabytes = float(given) if given else DEFAULT
    except ValueError:
        gigabytes = -1.0
    if not gigabytes >= 0:
        raise UsageError(f"{VARIABLE}={given}: give the size in GB, e.g. {VARIABLE}=2, or 0 to keep nothing.")
    return int(gigabytes * 1e9)


def list_kept(room: Room, root: Path | None = None) -> list[KeptFile]:
    """What is kept in a room, the last used first."""
    found = []
    for path in ((root or kept_root()) / room).glob(f"[!.]*{ENDING}"):
        with suppress(FileNotFoundError):  # deleted by another process just now
            state = path.stat()
            found.append(KeptFile(path, state.st_size, datetime.fromtimestamp(state.st_mtime)))
    return sorted(found, key=lambda one: one.used, reverse=True)


def kept_files(age: timedelta, *, delete: bool = False) -> tuple[KeptFiles, ...]:
    """What is kept of each kind and was last used at least so long ago; deleted, if that is asked."""
    now = datetime.now()
    found = {room: [one for one in list_kept(room) if now - one.used >= age] for room in ROOMS}
    for one in (one for files in found.values() for one in files) if delete else ():
        one.path.unlink(missing_ok=True)
    return tuple(KeptFiles(room, len(files), sum(one.size for one in files)) for room, files in found.items())


class KeptTensors:
    """Tensors by name with a record, one file per key."""

    def __init__(self, room: Room, root: Path | None = None) -> None:
        self._root = root or kept_root()
        self._room = room
        self._written = 0  # bytes since the budget was last looked at
        self._free: int | None = None  # bytes of the budget that were left then

    def find(self, key: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The tensors of a key and their record; None if there are none, or damaged ones, with a warning."""
        from safetensors import SafetensorError, safe_open

        path = self._path(key)
        if not budget():
            return None
        try:
            with safe_open(path, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                stored = file.metadata() or {}
            if stored["seal"] != _seal(key, tensors, stored["record"]):
                raise ValueError("the content does not match its checksum")
            record: dict[str, Any] = json.loads(stored["record"])
        except FileNotFoundError:
            return None
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            _warn(f"'{path}' cannot be read ({reason}); what it held is computed again.")
            return None
        with suppress(OSError):  # of another user, or just deleted: only its age is wrong then
            os.utime(path)
        return tensors, record

    def keep(self, key: str, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> bool:
        """Write tensors; False if the budget has no room for them, or, with a warning, if they cannot be."""
        from safetensors.torch import save_file

        whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        size = sum(tensor.nbytes for tensor in whole.values())
        if size > budget():
            return False
        text = json.dumps(record)
        path = self._path(key)
        try:
            with hidden_folder(path.parent) as hidden:
                save_file(whole, hidden / path.name, {"record": text, "seal": _seal(key, whole, text)})
                (hidden / path.name).replace(path)
            self._make_room(size)
        except OSError as error:
            _warn(f"Nothing can be kept in '{path.parent}': {error.strerror or error}.")
            return False
        return True

    def _path(self, key: str) -> Path:
        return self._root / self._room / f"{key}{ENDING}"

    def _make_room(self, size: int) -> None:
        """Delete what was not used for longest until all fits; the disk is looked at only when it may not."""
        self._written += size
        if self._free is not None and self._written <= self._free:
            return
        everything = sorted(
            (one for room in ROOMS for one in list_kept(room, self._root)), key=lambda one: one.used
        )
        total = sum(one.size for one in everything)
        for one in everything:
            if total <= budget():
                break
            one.path.unlink(missing_ok=True)
            total -= one.size
        self._written, self._free = 0, max(0, budget() - total) // 2  # other processes write too


def _warn(text: str) -> None:
    warnings.warn(text, AttnxWarning, stacklevel=3)


def _seal(key: str, tensors: Mapping[str, Tensor], record: str) -> str:
    """The checksum of tensors, their record and their key."""
    hashed = hashlib.sha256(f"{key}\n{record}".encode())
    for name, tensor in sorted(tensors.items()):
        hashed.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        hashed.update(tensor.numpy().data if tensor.numel() else b"")
    return hashed.hexdigest()
