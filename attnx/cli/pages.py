"""`attnx view` and `attnx export`: what was kept, to look at and to publish."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..disk import write_file
from ..errors import UsageError
from .completion import kept_names
from .options import Out

RunName = Annotated[
    str | None,
    typer.Argument(
        metavar="[RUN]",
        help="A run or study: its name, the beginning of it, or its folder.",
        autocompletion=kept_names,
        show_default=False,
    ),
]


def view(
    run: RunName = None,
    out: Out = None,
    browser: Annotated[bool, typer.Option("--open", help="Open it in a browser too.")] = False,
) -> None:
    """Write the page over all runs and studies, or find that of one, and print where it is.

    Takes a second or so for every page that is not there yet; nothing is served and nothing computed.

    Examples:

      attnx view --open

      attnx view 55e8
    """
    from ..store.home import home
    from ..store.runs import PAGE, write_page
    from ..store.saved_reports import saved_reports, take, write_index

    if run is None:
        page = (out or home()) / "index.html"
        write_index(list(saved_reports(out)), page)
    else:
        kept = take(run, out)
        page = kept.folder / PAGE
        if kept.report is not None and not page.is_file():
            write_page(kept.report, kept.folder)
    print(page)
    if browser:
        typer.launch(page.resolve().as_uri())


def export(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run or study: its name, the beginning of it, or its folder.",
            autocompletion=kept_names,
        ),
    ],
    to: Annotated[
        Literal["latex", "csv", "markdown", "svg", "png"],
        typer.Option(help="A table as text on stdout, or figures as files."),
    ] = "latex",
    into: Annotated[
        Path | None,
        typer.Option(help="Write to this file, or figures to this folder.  [default: stdout, or figures]"),
    ] = None,
    out: Out = None,
) -> None:
    """Export a run's tables and figures for a paper: booktabs tables, vector figures.

    Takes seconds; nothing is computed anew.

    Examples:

      attnx export 55e8 --to latex > table.tex

      attnx export 55e8 --to svg --into figures
    """
    from ..results.study import StudyReport
    from ..store.saved_reports import take
    from ..views.export import to_text, write_figures

    report = take(run, out).report
    assert report is not None  # or it would not have been taken
    if to != "svg" and to != "png":
        text = to_text(report, to)
        if into is None:
            sys.stdout.write(text)
        else:
            write_file(into, text)
            print(into)
        return
    if isinstance(report, StudyReport):
        raise UsageError("A study has tables and no figures: export it to latex, csv or markdown.")
    written = write_figures(report, report.kept_examples(), to, into or Path("figures"))
    if not written:
        raise UsageError("This run has no figure: none of its metrics draws one, and it kept no examples.")
    print("\n".join(map(str, written)))
