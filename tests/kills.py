"""What a kill leaves: the disk before every change of a process, as a copy or after a real kill -9.

A process that is gone leaves nothing but what it wrote, so a copy of the folder shows what a kill leaves, and
takes one process for all changes. Slow tests kill a process at each change.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attnx import disk

CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
Deaths = Callable[[Path, Callable[[], Any]], Iterator[int]]


def deaths(root: Path, work: Callable[[], Any]) -> Iterator[int]:
    """Bring a folder into the state before the n-th change of some work, for n = 1, 2, … until it is done.

    A change is whatever makes, opens to write, half writes, moves or deletes something below the folder.
    """
    with tempfile.TemporaryDirectory(prefix="attnx-deaths-") as kept:
        number = 0

        def copy() -> None:
            nonlocal number
            number += 1
            shutil.copytree(root, Path(kept, str(number)), symlinks=True)

        def work_and_copy() -> None:
            work()
            copy()

        status = _in_a_process(root, copy, work_and_copy)
        assert status == 0, "the work itself failed"
        *states, done = sorted(Path(kept).iterdir(), key=lambda path: int(path.name))
        for state in states:
            _replace(root, state)
            yield int(state.name)
        _replace(root, done)


def killings(root: Path, work: Callable[[], Any]) -> Iterator[int]:
    """Do some work in a process that is killed before its n-th change, for n = 1, 2, … until it is done."""
    number = 0
    while True:
        number += 1
        left = number

        def die_in_time() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        status = _in_a_process(root, die_in_time, work)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, "the work itself failed"
            return
        assert os.WTERMSIG(status) == signal.SIGKILL
        yield number


BOTH = [
    pytest.param(deaths, id="copied"),
    pytest.param(killings, id="killed", marks=pytest.mark.slow),
]


def _replace(root: Path, state: Path) -> None:
    shutil.rmtree(root)
    shutil.copytree(state, root, symlinks=True)


def _in_a_process(root: Path, before_change: Callable[[], None], work: Callable[[], Any]) -> int:
    """Do some work in a process of its own; its status."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
            Watch(root.resolve(), before_change).start()
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


class Watch:
    """Does something before every change of this process below a folder."""

    def __init__(self, root: Path, before_change: Callable[[], None]) -> None:
        self.root, self.before_change = root, before_change
        self.paused = False

    def start(self) -> None:
        """From now on; there is no way back."""
        for name in ("write_text", "write_bytes"):
            setattr(Path, name, self._half_written(getattr(Path, name)))
        disk.exchange = self._before(disk.exchange)
        sys.addaudithook(self._hear)

    def heard(self, path: Any, folder: Any = -1) -> None:
        """A path changes now, if it is below the folder."""
        if not self.paused and self._is_below(path, folder):
            self._act()

    def _is_below(self, path: Any, folder: Any = -1) -> bool:
        if isinstance(path, int):
            return False
        named = Path(os.fsdecode(path))
        if not named.is_absolute():
            there = os.getcwd() if folder in (-1, None) else os.readlink(f"/proc/self/fd/{folder}")
            named = Path(there) / named
        return named.is_relative_to(self.root) or named.resolve().is_relative_to(self.root)

    def _act(self) -> None:
        self.paused = True
        self.before_change()
        self.paused = False

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & WRITES:
                self.heard(path)
        elif event in CHANGES:
            self.heard(args[0], args[-1] if event in ("os.remove", "os.rmdir", "os.mkdir") else -1)

    def _before(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def acting(path: Path, *args: Any) -> Any:
            self.heard(path)
            return act(path, *args)

        return acting

    def _half_written(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def writing(path: Path, content: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.paused and self._is_below(path):
                self.paused = True
                before = path.read_bytes() if path.exists() else None
                write(path, content[: len(content) // 2], *args, **kwargs)
                self._act()
                self.paused = True
                if before is None:
                    path.unlink()
                else:
                    with open(path, "wb") as file:
                        file.write(before)
                self.paused = False
            return write(path, content, *args, **kwargs)

        return writing
