"""From whatever a component raises to one line that names it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import AttnxError, PluginError, out_of_memory
from .global_state import unchanged_state


@contextmanager
def errors_of(title: str) -> Iterator[None]:
    """Whatever a component raises, in one line that names it and the place; what is foreseen passes."""
    try:
        with unchanged_state(title):
            yield
    except (
        AttnxError,
        OSError,
        KeyboardInterrupt,
    ):  # of the machine, of the user, or said already
        raise
    except BaseException as error:  # a component may leave, too
        if out_of_memory(error):
            raise
        reason = " ".join(str(error).split())[:300]
        raise PluginError(
            f"{title} failed: {type(error).__name__}: {reason} ({_place(error)}); --debug shows more."
        ) from error


def _place(error: BaseException) -> str:
    """The innermost line that is not a library's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename] or list(frames)
    return f"{own[-1].filename}:{own[-1].lineno}" if own else "nowhere"
