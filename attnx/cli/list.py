"""`attnx list`: the components that are installed."""

from typing import Annotated

import typer

from ..escaping import printable
from .catalog import installed_catalog
from .completion import kinds


def list_components(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help="tasks, models, projections, importances, metrics, studies or experiments.  [default: all]",
            autocompletion=kinds,
        ),
    ] = None,
) -> None:
    """List the installed components and named models.

    Examples:

      attnx list

      attnx list tasks
    """
    from ..views.terminal.components import listing

    print(printable(listing(installed_catalog(), kind), lines=True))
