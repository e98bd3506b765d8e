"""The application: results on stdout, progress and warnings on stderr, errors in one line.

Heavy modules are imported inside commands, so that help, lists and mistakes answer at once.
"""

import sys
from typing import Annotated, Any

import typer

from .audit import audit
from .catalog import switched_off
from .check import check
from .compare import compare
from .data import data_app
from .error_boundary import answer
from .evaluate import evaluate
from .explain import explain
from .list import info, list_components, plugins
from .pages import export, view
from .repeated_options import refuse_repeats
from .reproduce import reproduce
from .runs import runs_app
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
for command in (evaluate, study, sweep, audit, explain, compare, info, plugins, check, view, export):
    app.command()(command)
app.command()(reproduce)
app.command("list")(list_components)
app.add_typer(runs_app, name="runs")
app.add_typer(data_app, name="data")


def main() -> None:
    """Run the command line; every failure is one line and an exit code."""
    answer(_run)


def _run() -> Any:
    refuse_repeats(typer.main.get_command(app), sys.argv[1:])
    return app(standalone_mode=False)


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
