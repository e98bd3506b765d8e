"""`attnx export`: tables and figures of a run for a paper."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import UsageError
from .completion import saved_names
from .global_options import switched_off
from .options import Out


def export(
    run: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN [RUN...]",
            help="A run, study, sweep, reproduction or test with a planted trigger: its name, the first "
            "characters of its name, or its folder. Several runs are compared.",
            autocompletion=saved_names,
        ),
    ],
    to: Annotated[
        Literal["latex", "csv", "markdown", "svg", "pdf", "png"],
        typer.Option(
            metavar="latex|csv|markdown|svg|pdf|png",
            help="latex, csv and markdown export a table; svg, pdf and png export figures.",
        ),
    ] = "latex",
    what: Annotated[
        Literal["measures", "ranking"] | None,
        typer.Option(
            metavar="measures|ranking",
            help="The table: every measure, or how faithful each explanation is.  [default: measures; of a "
            "sweep the ranking]",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Keep only this metric (repeatable)."),
    ] = None,
    explanation: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Keep only this explanation (repeatable)."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="File for a table, folder for figures.  [default: standard output; the folder 'figures']",
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Export a table or the figures of a stored result for a paper.

    LaTeX tables use booktabs; csv has every number at full precision. It takes seconds; nothing is
    evaluated again.

    Examples:

      attnx export 55e8 --what ranking > ranking.tex

      attnx export 55e8 --to latex --metric kendall --explanation attention

      attnx export 55e8 b0c1 --to markdown

      attnx export 55e8 --to pdf --into figures
    """
    from .. import runs

    metrics, explanations = metric or (), explanation or ()
    if to == "svg" or to == "pdf" or to == "png":
        if what or metrics or explanations:
            raise UsageError(f"--what, --metric and --explanation choose a table; --to {to} has all figures.")
        print("\n".join(map(str, runs.export(run, to, into=into, out=out, without=switched_off))))
        return
    text = runs.export(run, to, what=what, metrics=metrics, explanations=explanations, into=into, out=out)
    if into is None:
        sys.stdout.write(text)
    else:
        print(into)
