"""Turns an exception of a plugin's component into a PluginError of one line that names the component.

The command line prints it and exits (`cli/error_boundary.py`).
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import AttnxError, PluginError, out_of_memory
from .global_state import unchanged_state


@contextmanager
def errors_of(title: str) -> Iterator[None]:
    """Turn an exception of a component into a PluginError; errors of the user or the machine pass."""
    try:
        with unchanged_state(title):
            yield
    except (AttnxError, OSError, KeyboardInterrupt):  # of the user or the machine, or already converted
        raise
    except BaseException as error:  # a component may call exit, too
        if out_of_memory(error):
            raise
        reason = " ".join(str(error).split())[:300]
        raise PluginError(
            f"{title} failed: {type(error).__name__}: {reason} ({_place(error)}); --debug shows more."
        ) from error


def _place(error: BaseException) -> str:
    """The innermost line outside of libraries."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename] or list(frames)
    return f"{own[-1].filename}:{own[-1].lineno}" if own else "nowhere"
