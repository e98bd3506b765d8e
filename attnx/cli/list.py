"""`attnx list`, `info` and `plugins`: what there is."""

from typing import Annotated

import typer

from ..escaping import printable
from ..host.cards import KINDS
from .catalog import installed_catalog
from .completion import kinds, names_of


def list_components(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="tasks, models, projections, importances, metrics, studies or experiments.",
            autocompletion=kinds,
        ),
    ] = None,
) -> None:
    """List components and named models, all or of one kind.

    Examples:

      attnx list

      attnx list tasks
    """
    from ..views.terminal.components import listing

    print(printable(listing(installed_catalog(), kind), lines=True))


def info(
    name: Annotated[
        str, typer.Argument(help="A component or a named model.", autocompletion=names_of(*KINDS))
    ],
) -> None:
    """Show what a component does, its options, what it needs and who provides it.

    Examples:

      attnx info fcam

      attnx info sparsegen
    """
    from ..views.terminal.components import describe

    print(printable(describe(installed_catalog(), name), lines=True))


def plugins() -> None:
    """List installed plugins and what is wrong with those that are broken."""
    from ..views.terminal.components import plugin_table

    print(printable(plugin_table(installed_catalog()), lines=True))
