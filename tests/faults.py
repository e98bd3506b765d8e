"""A fault injector: the n-th change to what is below a folder fails as a full disk does."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHANGES = ("mkdir", "write_text", "write_bytes", "rename", "replace")


class Disk:
    """Counts changes below a folder; from the n-th on, `lasting` or that one alone, they fail."""

    def __init__(self, root: Path, fails_at: int, code: int, lasting: bool) -> None:
        self.root, self.fails_at, self.code, self.lasting = root, fails_at, code, lasting
        self.changes = 0

    def change(self, path: Path) -> None:
        if not Path(path).is_relative_to(self.root):
            return
        self.changes += 1
        if self.changes == self.fails_at or (self.lasting and self.changes > self.fails_at > 0):
            raise OSError(self.code, os.strerror(self.code), str(path))

    def watch(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def watched(path: Path, *args: Any, **kwargs: Any) -> Any:
            self.change(path)
            return change(path, *args, **kwargs)

        return watched


@contextmanager
def failing_disk(
    root: Path, fails_at: int = 0, code: int = errno.ENOSPC, *, lasting: bool = False
) -> Iterator[Disk]:
    """A disk whose n-th change below `root` fails; with 0 none does, and they are counted."""
    disk = Disk(root, fails_at, code, lasting)
    make = tempfile.mkdtemp

    def mkdtemp(suffix: Any = None, prefix: Any = None, dir: Any = None) -> str:
        disk.change(Path(dir or tempfile.gettempdir()))
        return str(make(suffix, prefix, dir))

    with pytest.MonkeyPatch.context() as patch:
        for name in CHANGES:
            patch.setattr(Path, name, disk.watch(getattr(Path, name)))
        patch.setattr(tempfile, "mkdtemp", mkdtemp)
        yield disk
