"""`attnx export`: tables and figures of a run for a paper."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..disk import write_file
from ..errors import UsageError
from .catalog import installed_catalog
from .completion import saved_names
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
    from ..store.saved_reports import load_saved
    from ..views.export import to_text, write_figures

    report = load_saved(run, out).report
    assert report is not None  # load_saved refuses an unreadable one
    if to != "svg" and to != "png":
        text = to_text(report, to)
        if into is None:
            sys.stdout.write(text)
        else:
            write_file(into, text)
            print(into)
        return
    written = write_figures(report, to, into or Path("figures"), installed_catalog())
    if not written:
        raise UsageError(
            "There are no figures. A run has some if one of its metrics draws one, or if its examples are "
            "stored (--keep all); a study, if a measure has several settings."
        )
    print("\n".join(map(str, written)))
