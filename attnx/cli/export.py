"""`attnx export`: tables and figures of a run for a paper."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from .completion import saved_names
from .global_options import switched_off
from .options import Out


def export(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run or study: its name, the first characters of its name, or its folder.",
            autocompletion=saved_names,
        ),
    ],
    to: Annotated[
        Literal["latex", "csv", "markdown", "svg", "png"],
        typer.Option(
            metavar="latex|csv|markdown|svg|png",
            help="latex, csv and markdown export tables; svg and png export figures.",
        ),
    ] = "latex",
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="File for a table, folder for figures.  [default: standard output; the folder 'figures']",
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Export the tables or figures of a run for a paper.

    LaTeX tables use booktabs. It takes seconds; nothing is evaluated again.

    Examples:

      attnx export 55e8 --to latex > table.tex

      attnx export 55e8 --to svg --into figures
    """
    from .. import runs

    if to == "svg" or to == "png":
        written = runs.export(run, to, into=into, out=out, without=switched_off)
        print("\n".join(map(str, written)))
        return
    text = runs.export(run, to, into=into, out=out, without=switched_off)
    if into is None:
        sys.stdout.write(text)
    else:
        print(into)
