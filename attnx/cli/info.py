"""`attnx info`: what one component does."""

from typing import Annotated

import typer

from ..escaping import printable
from ..host.cards import KINDS
from .catalog import installed_catalog
from .completion import names_of


def info(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A component or a named model.", autocompletion=names_of(*KINDS)),
    ],
) -> None:
    """Show what a component does, its options and its plugin.

    Examples:

      attnx info fcam

      attnx info sparsegen
    """
    from ..views.terminal.components import describe

    print(printable(describe(installed_catalog(), name), lines=True))
