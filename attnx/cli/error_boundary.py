"""Turns exceptions of a command into one line and an exit code, and warnings into one line each.

An exception of a component is already a PluginError when it arrives here (`run/plugin_errors.py` names the
component). What a plugin raises elsewhere, e.g. while it is listed, is traced to the plugin here.
"""

import errno
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import typer

from ..errors import FAULT, AttnxError, AttnxWarning, MachineError, PluginError, UsageError, out_of_memory
from ..escaping import half_character, printable, shortened
from ..host.plugin_files import plugin_files
from .global_options import debug

_DEBUG = "; --debug shows more."
_NO_MEMORY = b"error: Not enough memory.\n"


def answer(program: Callable[[], Any]) -> None:
    """Run the program and exit with its code; an error is printed as one line."""
    try:
        with _outputs():
            code = program()
            sys.stdout.flush()
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)  # of usage errors
        command = context.command_path if context else "attnx"
        message = error.format_message()
        end = "" if message.endswith((".", "?")) else "."
        _leave(f"{command}: {message}{end} Try '{command} --help'.", error.exit_code)
    except BrokenPipeError:
        _leave_closed_pipe()
    except SystemExit as left:  # what typer makes of a closed pipe, and what completion does
        if isinstance(left.__context__, BrokenPipeError):
            _leave_closed_pipe()
        if "_ATTNX_COMPLETE" in os.environ:
            raise
        plugin = _plugin_behind(left) or "unknown"
        ended = PluginError(f"Plugin '{plugin}' ended the program with exit({left.code!r}) {_place(left)}")
        _report(ended, left)
    except Exception as error:
        try:
            _report(_as_attnx_error(error), error)
        except MemoryError:  # not even enough to make a sentence
            os.write(2, _NO_MEMORY)
            os._exit(MachineError.exit_code)
    except KeyboardInterrupt:  # outside of any command
        code = 130
    if code == 130:
        _leave("Interrupted. Finished parts are saved; no file is half-written.", 130)
    sys.exit(code or 0)


@contextmanager
def _outputs() -> Iterator[None]:
    """Check that outputs and arguments are usable, and show warnings as one line each."""
    if sys.stderr is None:  # print would take stdout instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the end
    if sys.stdout is None:
        raise MachineError("Standard output is closed, so nothing can be printed.")
    if hasattr(sys.stdout, "reconfigure"):  # a terminal without a character shows its code
        sys.stdout.reconfigure(errors="backslashreplace")
    for name, text in [("argument", a) for a in sys.argv[1:]] + list(os.environ.items()):
        if (name == "argument" or name.startswith("ATTNX_")) and half_character(text):
            advice = "rename that file or folder, or write that text again"
            raise UsageError(f"The {name} '{text}' is not valid UTF-8: {advice}.")
    with warnings.catch_warnings():
        warnings.simplefilter("always", AttnxWarning)  # Python would drop the second at the same line
        warnings.showwarning = partial(_show_once, set())
        yield


def _as_attnx_error(error: Exception) -> AttnxError | None:
    """The exception as an error that a user can act on; None for a bug in attnx."""
    if isinstance(error, AttnxError):
        return error
    if isinstance(error, UnicodeEncodeError) and half_character(error.object):
        return UsageError(f"The name '{error.object[:200]}' is not valid UTF-8: rename that file or folder.")
    if out_of_memory(error):
        wanted = re.search(r"allocate (\d+) bytes", str(error))
        size = f": one step needs {int(wanted[1]) / 1e9:.3g} GB" if wanted else ""
        return MachineError(f"Not enough memory{size}. Use fewer examples (--limit) or a smaller model.")
    if isinstance(error, OSError):
        return MachineError(_os_reason(error))
    if plugin := _plugin_behind(error):
        return PluginError(
            f"Plugin '{plugin}' failed: {type(error).__name__}: {_reason(error)} {_place(error)}"
        )
    return None


def _plugin_behind(error: BaseException) -> str:
    """The plugin whose code raised the error; empty when attnx itself did."""
    from importlib.metadata import entry_points

    packages = {
        entry.value.partition(":")[0].partition(".")[0]: entry.name for entry in entry_points(group="attnx")
    }
    files = {file.path: file.name for file in plugin_files()}
    core = Path(__file__).parent.parent
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if core in file.parents:
            return ""
        if file in files:
            return files[file]
        if found := packages.keys() & {*file.parts[:-1], file.stem}:
            return packages[min(found)]
    return ""


def _os_reason(error: OSError) -> str:
    """The system's reason, the file and what to do."""
    where = f" '{os.fsdecode(error.filename)}'" if isinstance(error.filename, str | bytes) else ""
    what = error.strerror or _reason(error) or type(error).__name__
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    help_ = " Free some space, or choose another folder (--out or ATTNX_HOME)." if full else ""
    if not where:
        return f"{what}.{help_}"
    return f"Cannot access{where}: {what}.{help_}"


def _report(known: AttnxError | None, error: BaseException) -> None:
    """Print the error, with its traceback if --debug is given, and exit."""
    if debug():
        traceback.print_exception(error)
    if known is not None:
        traced = known is not error and isinstance(known, PluginError)
        _leave(f"{known}{_DEBUG if traced else ''}", known.exit_code)
    _leave(
        f"Internal error in attnx, please report it: {type(error).__name__}: {_reason(error)} "
        f"{_place(error)}{_DEBUG}",
        FAULT,
    )


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")[:300]


def _place(error: BaseException) -> str:
    """The innermost line outside of libraries."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename] or list(frames)
    return f"({own[-1].filename}:{own[-1].lineno})" if own else ""


def _leave(message: str, code: int) -> None:
    try:
        print("error:", printable(shortened(" ".join(message.split("\n")))), file=sys.stderr)
        sys.stdout.flush()
    except (OSError, AttributeError):  # nowhere to print; the exit code remains
        _give_up_stdout()
    sys.exit(code)


def _leave_closed_pipe() -> None:
    """Exit normally: the reader of the pipe, e.g. head, has stopped reading."""
    _give_up_stdout()
    sys.exit(0)


def _give_up_stdout() -> None:
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or closing it would fail again


def _show_once(shown: set[str], message: Warning | str, *_: object) -> None:
    """Print a warning as one line, unless the same line was printed before."""
    line = printable(shortened(" ".join(str(message).split())))
    if line not in shown:
        shown.add(line)
        print("warning:", line, file=sys.stderr)
