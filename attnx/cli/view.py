"""`attnx view`: the HTML report of a run, or the index of all of them."""

from typing import Annotated

import typer

from .completion import saved_names
from .global_options import switched_off
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
    from .. import runs

    print(runs.view(run, out=out, open=browser, without=switched_off))
