"""Runs code of a plugin that may raise anything, and leaves the process where it was."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from ..errors import MachineError, out_of_memory

T = TypeVar("T")


class ForeignError(Exception):
    """What code of a plugin raised, in one line; the cause is the exception itself."""


def call_foreign(action: Callable[[], T]) -> T:
    """Run code of a plugin: whatever it raises is a ForeignError, but for Ctrl-C and a lack of memory.

    The working directory is restored, so that the paths that a person typed mean what they did.
    """
    with noticed_interrupts() as interrupts, _same_folder():
        try:
            return action()
        except BaseException as error:
            if interrupts:
                raise
            if out_of_memory(error):
                raise MachineError("Not enough memory to load the plugins of attnx.") from error
            reason = " ".join(str(error).split())
            raise ForeignError(f"{type(error).__name__}: {reason}") from error


@contextmanager
def noticed_interrupts() -> Iterator[list[int]]:
    """Note every Ctrl-C, so that it differs from a KeyboardInterrupt that code raises itself."""
    noticed: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield noticed  # signals arrive in the main thread only
        return

    def notice(number: int, frame: FrameType | None) -> None:
        noticed.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield noticed
    finally:
        if signal.getsignal(signal.SIGINT) is notice:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _same_folder() -> Iterator[None]:
    try:
        before = os.getcwd()
    except FileNotFoundError:  # it was deleted
        yield
        return
    try:
        yield
    finally:
        os.chdir(before)
