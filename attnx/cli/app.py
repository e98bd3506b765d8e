"""The application: results on stdout, progress and warnings on stderr, errors in one line.

Heavy modules are imported inside commands, so that help, lists and mistakes answer at once.
"""

import atexit
import gc
import sys
from functools import cache
from typing import Annotated, Any

import typer

from .audit import audit
from .check import check
from .compare import compare
from .components import info, list_components, plugins
from .data import data_app
from .error_boundary import answer
from .evaluate import evaluate
from .explain import explain
from .export import export
from .global_options import add_global_options, reset
from .new import new
from .planted import planted
from .repeated_options import refuse_repeats
from .reproduce import reproduce
from .runs import runs_app
from .study import study
from .sweep import sweep
from .view import view

app = typer.Typer(
    name="attnx",
    help="Test whether attention weights, or other importance scores, are a faithful explanation.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich for a help page would double its time
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (evaluate, explain, compare, view, export, sweep, study, reproduce, audit, planted):
    app.command()(command)
app.command("list")(list_components)
app.command()(info)
app.command()(plugins)
app.command()(check)
app.command()(new)
app.add_typer(runs_app, name="runs")
app.add_typer(data_app, name="data")


def main() -> None:
    """Run the command line; every failure is one line and an exit code."""
    _collect_seldom()
    answer(_run)


def _collect_seldom() -> None:
    """Search for unreachable objects seldom, and not at the end, when the system takes all of them back.

    Libraries make hundreds of thousands of objects that stay; searching them took a fifth of a small run.
    """
    gc.set_threshold(20_000, 20, 20)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def _run() -> Any:
    reset()
    command = _command()
    refuse_repeats(command, sys.argv[1:])
    return command(standalone_mode=False)


@cache
def _command() -> Any:
    return add_global_options(typer.main.get_command(app))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"attnx {version('attnx')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())
