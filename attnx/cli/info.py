"""`attnx info`: what one component does."""

import sys
from typing import Annotated

import typer

from ..escaping import printable
from ..host.cards import KINDS
from .catalog import installed_catalog
from .completion import names_of
from .options import Json


def info(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A component or a named model.", autocompletion=names_of(*KINDS)),
    ],
    json: Json = False,
) -> None:
    """Show what a component does, its options and its plugin.

    Examples:

      attnx info fcam

      attnx info sparsegen --json
    """
    if json:
        from ..views.components import about, to_json

        sys.stdout.write(to_json(about(installed_catalog(), name)))
        return
    from ..views.terminal.components import describe

    print(printable(describe(installed_catalog(), name), lines=True))
