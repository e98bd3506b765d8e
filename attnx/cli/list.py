"""`attnx list`: the components that are installed."""

import sys
from typing import Annotated

import typer

from ..escaping import printable
from .catalog import installed_catalog
from .completion import kinds
from .options import Json


def list_components(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help="tasks, models, projections, importances, metrics, studies or experiments.  [default: all]",
            autocompletion=kinds,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the installed components and named models.

    Examples:

      attnx list

      attnx list tasks

      attnx list metrics --json
    """
    if json:
        from ..views.components import listed_names, to_json

        found = listed_names(installed_catalog(), kind)
        sys.stdout.write(to_json(one for names in found.values() for one in names))
        return
    from ..views.terminal.components import listing

    print(printable(listing(installed_catalog(), kind), lines=True))
