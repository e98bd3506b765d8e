"""`attnx view`: the HTML report of a run, or the index of all of them."""

from typing import Annotated

import typer

from .catalog import installed_catalog
from .completion import saved_names
from .options import Out


def view(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="A run or study: its name, the first characters of its name, or its folder.  [default: all]",
            autocompletion=saved_names,
            show_default=False,
        ),
    ] = None,
    out: Out = None,
    browser: Annotated[bool, typer.Option("--open", help="Also open the page in a browser.")] = False,
) -> None:
    """Build the index of all runs, or print one report's path.

    Pages that do not exist yet are written first, about one second each. Nothing is evaluated again.

    Examples:

      attnx view --open

      attnx view 55e8
    """
    from ..store.home import home
    from ..store.runs import PAGE, write_page
    from ..store.saved_reports import load_saved, saved_reports, write_index

    if run is None:
        page = (out or home()) / "index.html"
        write_index(list(saved_reports(out)), page, installed_catalog())
    else:
        saved = load_saved(run, out)
        page = saved.folder / PAGE
        if saved.report is not None and not page.is_file():
            write_page(saved.report, saved.folder, installed_catalog())
    print(page)
    if browser:
        typer.launch(page.resolve().as_uri())
