"""`attnx compare`: which differences between runs are significant."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..disk import write_file
from .completion import saved_names
from .options import Json, Out


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN [RUN...]",
            help="Runs: names, first characters of names, or folders. Each is compared with the first. "
            "For a single run, its explanations are compared with each other.",
            autocompletion=saved_names,
        ),
    ],
    json: Json = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write an HTML page.")] = None,
    out: Out = None,
) -> None:
    """Compare runs, or the explanations of one run.

    Runs are compared on the examples and seeds that all of them share; the report says how many were left
    out. Differences are paired, and p-values are corrected for all rows (Holm). It takes seconds; nothing
    is evaluated again.

    Examples:

      attnx compare 55e8 b0c1

      attnx compare 55e8 b0c1 --html comparison.html

      attnx compare 55e8
    """
    from ..api.compare import compare as compare_runs

    comparison = compare_runs(*runs, out=out)
    if json:
        sys.stdout.write(comparison.to_json())
    else:
        from ..views.terminal.comparison import print_comparison

        print_comparison(comparison)
    if html is not None:
        write_file(html, comparison.to_html())
        print(f"page: {html}", file=sys.stderr)
