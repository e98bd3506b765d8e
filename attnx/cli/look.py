"""`attnx list`, `info` and `plugins`: what there is."""

from typing import Annotated

import typer

from ..escaping import printable
from ..host.cards import KINDS
from .completion import kinds, names_of
from .installed import installed_catalog


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
    from ..report.listing import listing

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
    from ..report.listing import describe

    print(printable(describe(installed_catalog(), name), lines=True))


def plugins() -> None:
    """List installed plugins and what is wrong with those that are broken."""
    from ..report.listing import plugin_table

    print(printable(plugin_table(installed_catalog()), lines=True))
