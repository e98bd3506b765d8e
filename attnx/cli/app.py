"""The application: results on stdout, progress and warnings on stderr, errors in one line.

Heavy modules are imported inside commands, so that help, lists and mistakes answer at once.
"""

import os
import sys
import traceback
import warnings
from typing import Annotated

import typer

from ..errors import AttnxError
from ..escaping import printable
from .audit import audit
from .check import check
from .data import data_app
from .evaluate import evaluate
from .explain import explain
from .installed import switched_off
from .look import info, list_components, plugins, runs
from .pages import export, view
from .repeats import refuse_repeats
from .study import study
from .sweep import sweep

app = typer.Typer(
    name="attnx",
    help="Tell whether attention weights, or any other importance scores, can be read as an explanation.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich for a help page would double its time
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (evaluate, study, sweep, audit, explain, info, plugins, check, runs, view, export):
    app.command()(command)
app.command("list")(list_components)
app.add_typer(data_app, name="data")


def main() -> None:
    """Run the command line; every foreseen failure is one line and an exit code."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn  # type: ignore[assignment]  # it needs the message alone
            refuse_repeats(typer.main.get_command(app), sys.argv[1:])
            code = app(standalone_mode=False)
        sys.stdout.flush()
    except AttnxError as error:
        if "--debug" in sys.argv:
            traceback.print_exception(error)
        _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)  # of usage errors
        command = context.command_path if context else "attnx"
        _fail(f"{command}: {error.format_message()} Try '{command} --help'.", error.exit_code)
    except BrokenPipeError:
        _leave_closed_pipe()
    except SystemExit as left:  # what typer makes of it
        if isinstance(left.__context__, BrokenPipeError):
            _leave_closed_pipe()
        raise
    if code == 130:
        _fail("interrupted; finished parts are kept, nothing is left half-written", 130)
    sys.exit(code or 0)


def _fail(message: str, code: int) -> None:
    print("error:", printable(" ".join(message.split("\n"))), file=sys.stderr)
    sys.exit(code)


def _leave_closed_pipe() -> None:
    """The reader, such as head, has seen enough: nothing failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or closing stdout would fail again
    sys.exit(0)


def _warn(message: Warning | str, *_: object) -> None:
    """A library's warning in one line, each once, as Python decides."""
    print("warning:", printable(" ".join(str(message).split())), file=sys.stderr)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"attnx {version('attnx')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="PLUGIN", help="Switch a plugin off (repeatable); also ATTNX_WITHOUT=a,b."),
    ] = None,
    debug: Annotated[  # noqa: ARG001 - read where errors are caught
        bool, typer.Option("--debug", help="Show the traceback of an error too.")
    ] = False,
) -> None:
    switched_off[:] = without or []
    if context.invoked_subcommand is None:
        print(context.get_help())
