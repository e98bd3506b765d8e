"""`attnx compare`: whether runs differ."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..disk import write_file
from .completion import kept_names
from .options import Json, Out


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN [RUN...]",
            help="Names, beginnings of them, or folders; the others are held to the first. Of a single run "
            "its explanations are compared.",
            autocompletion=kept_names,
        ),
    ],
    json: Json = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page too.")] = None,
    out: Out = None,
) -> None:
    """Compare runs, or the explanations of one, on the same examples: which differences are beyond noise.

    Examples are matched by id and seeds by number; what not every run has is left out, which is told.
    Intervals are paired, p-values corrected for all rows (Holm). Takes seconds; nothing is computed anew.

    Examples:

      attnx compare 55e8 b0c1

      attnx compare 55e8 b0c1 --html comparison.html

      attnx compare 55e8   (is rollout better than attention?)
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
