"""A kill injector: a process that dies, as by kill -9, at its n-th change below a folder."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attnx import disk

CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def deaths(root: Path, work: Callable[[], Any]) -> Iterator[int]:
    """Do some work in a process that dies before its n-th change, for n = 1, 2, … until it lives through it.

    A change is whatever makes, opens to write, half writes, moves or deletes something below the folder.
    """
    number = 0
    while True:
        number += 1
        child = os.fork()
        if child == 0:
            _work_and_die(Deadly(root.resolve(), number), work)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, "the work itself failed"
            return
        assert os.WTERMSIG(status) == signal.SIGKILL
        yield number


def _work_and_die(deadly: Deadly, work: Callable[[], Any]) -> None:
    code = 1
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        deadly.arm()
        work()
        code = 0
    finally:
        os._exit(code)


class Deadly:
    """Counts the changes of this process below a folder, and ends it before the n-th."""

    def __init__(self, root: Path, number: int) -> None:
        self.root, self.left = root, number

    def arm(self) -> None:
        """From now on; there is no way back."""
        for name in ("write_text", "write_bytes"):
            setattr(Path, name, self._half_written(getattr(Path, name)))
        disk.exchange = self._before(disk.exchange)
        sys.addaudithook(self._hear)

    def change(self, path: Any, folder: Any = -1) -> bool:
        """Count a change of a path, and say whether it is the last one."""
        if isinstance(path, int):
            return False
        named = Path(os.fsdecode(path))
        if not named.is_absolute():
            there = os.getcwd() if folder in (-1, None) else os.readlink(f"/proc/self/fd/{folder}")
            named = Path(there) / named
        if not (named.is_relative_to(self.root) or named.resolve().is_relative_to(self.root)):
            return False
        self.left -= 1
        return self.left == 0

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & WRITES and self.change(path):
                die()
        elif event in CHANGES:
            folder = args[-1] if event in ("os.remove", "os.rmdir", "os.mkdir") else -1
            if self.change(args[0], folder):
                die()

    def _before(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def acting(path: Path, *args: Any) -> Any:
            if self.change(path):
                die()
            return act(path, *args)

        return acting

    def _half_written(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def writing(path: Path, content: Any, *args: Any, **kwargs: Any) -> Any:
            if self.change(path):
                write(path, content[: len(content) // 2], *args, **kwargs)
                die()
            return write(path, content, *args, **kwargs)

        return writing


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
