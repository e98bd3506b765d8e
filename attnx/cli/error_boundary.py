"""Where every error becomes one line and an exit code."""

import errno
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from ..errors import FAULT, AttnxError, MachineError, PluginError, UsageError, out_of_memory
from ..escaping import printable, shortened


def answer(program: Callable[[], Any]) -> None:
    """Run the program and leave with its exit code; whatever goes wrong is told in one line."""
    try:
        with _outputs():
            code = program()
            sys.stdout.flush()
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)  # of usage errors
        command = context.command_path if context else "attnx"
        _leave(f"{command}: {error.format_message()} Try '{command} --help'.", error.exit_code)
    except BrokenPipeError:
        _leave_closed_pipe()
    except SystemExit as left:  # what typer makes of a closed pipe, and what completion does
        if isinstance(left.__context__, BrokenPipeError):
            _leave_closed_pipe()
        if "_ATTNX_COMPLETE" in os.environ:
            raise
        plugin = _plugin_behind(left) or "unknown"
        _tell(
            PluginError(f"Plugin '{plugin}' ended the program with exit({left.code!r}) {_place(left)}"), left
        )
    except Exception as error:
        _tell(_foreseen(error), error)
    except KeyboardInterrupt:  # outside of any command
        code = 130
    if code == 130:
        _leave("interrupted; finished parts are kept, nothing is left half-written", 130)
    sys.exit(code or 0)


@contextmanager
def _outputs() -> Iterator[None]:
    """Warnings in one line each, and outputs and arguments that can be used."""
    if sys.stderr is None:  # print would take stdout instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the end
    if sys.stdout is None:
        raise MachineError("Standard output is closed: there is nowhere to print to.")
    if hasattr(sys.stdout, "reconfigure"):  # a terminal that has not every character shows its code
        sys.stdout.reconfigure(errors="backslashreplace")
    for name, text in [("argument", a) for a in sys.argv[1:]] + list(os.environ.items()):
        if (name == "argument" or name.startswith("ATTNX_")) and not _is_utf8(text):
            raise UsageError(f"The {name} '{text}' is not valid UTF-8: rename that file or folder.")
    with warnings.catch_warnings():
        warnings.showwarning = _warn  # type: ignore[assignment]  # it needs the message alone
        yield


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _foreseen(error: Exception) -> AttnxError | None:
    """What went wrong as one of the errors a user can act on; None for a fault of attnx itself."""
    if isinstance(error, AttnxError):
        return error
    if isinstance(error, UnicodeEncodeError) and not _is_utf8(error.object):
        return UsageError(f"The name '{error.object[:200]}' is not valid UTF-8: rename that file or folder.")
    if out_of_memory(error):
        wanted = re.search(r"allocate (\d+) bytes", str(error))
        size = f": {int(wanted[1]) / 1e9:.3g} GB were asked for at once" if wanted else ""
        return MachineError(f"Not enough memory{size}. Take fewer examples (--limit) or smaller options.")
    if isinstance(error, OSError):
        return MachineError(_os_reason(error))
    if plugin := _plugin_behind(error):
        return PluginError(
            f"Plugin '{plugin}' failed: {type(error).__name__}: {_reason(error)} {_place(error)}"
        )
    return None


def _plugin_behind(error: BaseException) -> str:
    """The plugin whose code called what failed, unless the core did."""
    from importlib.metadata import entry_points

    packages = {
        entry.value.partition(":")[0].partition(".")[0]: entry.name for entry in entry_points(group="attnx")
    }
    core = Path(__file__).parent.parent
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if core in file.parents:
            return ""
        if found := packages.keys() & {*file.parts[:-1], file.stem}:
            return packages[min(found)]
    return ""


def _os_reason(error: OSError) -> str:
    """What the system says, of which file, and what helps."""
    where = f" '{os.fsdecode(error.filename)}'" if isinstance(error.filename, str | bytes) else ""
    what = error.strerror or _reason(error) or type(error).__name__
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    help_ = " Free some space, or write elsewhere (ATTNX_HOME, --out)." if full else ""
    return f"The machine refused{where}: {what}.{help_}"


def _tell(told: AttnxError | None, error: BaseException) -> None:
    if "--debug" in sys.argv:
        traceback.print_exception(error)
    if told is not None:
        more = "; --debug shows more." if told is not error and isinstance(told, PluginError) else ""
        _leave(f"{told}{more}", told.exit_code)
    _leave(
        f"attnx itself failed, please report it: {type(error).__name__}: {_reason(error)} {_place(error)}; "
        "--debug shows more.",
        FAULT,
    )


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")[:300]


def _place(error: BaseException) -> str:
    """The innermost line that is not a library's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename] or list(frames)
    return f"({own[-1].filename}:{own[-1].lineno})" if own else ""


def _leave(message: str, code: int) -> None:
    try:
        print("error:", printable(shortened(" ".join(message.split("\n")))), file=sys.stderr)
        sys.stdout.flush()
    except (OSError, AttributeError):  # it cannot be told; the exit code says it
        _give_up_stdout()
    sys.exit(code)


def _leave_closed_pipe() -> None:
    """The reader, such as head, has seen enough: nothing failed."""
    _give_up_stdout()
    sys.exit(0)


def _give_up_stdout() -> None:
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or closing it would fail again


def _warn(message: Warning | str, *_: object) -> None:
    """A library's warning in one line, each once, as Python decides."""
    print("warning:", printable(shortened(" ".join(str(message).split()))), file=sys.stderr)
