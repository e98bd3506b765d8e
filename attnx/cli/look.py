"""`attnx list`, `info`, `plugins` and `runs`: what there is."""

from typing import Annotated

import typer

from .installed import installed_catalog
from .options import Out


def list_components(
    kind: Annotated[
        str | None,
        typer.Argument(help="tasks, models, projections, importances, metrics, studies or experiments."),
    ] = None,
) -> None:
    """List components and named models, all or of one kind.

    Examples:

      attnx list

      attnx list tasks
    """
    from ..report.listing import listing

    print(listing(installed_catalog(), kind))


def info(name: Annotated[str, typer.Argument(help="A component or a named model.")]) -> None:
    """Show what a component does, its options, what it needs and who provides it.

    Examples:

      attnx info fcam

      attnx info sparsegen
    """
    from ..report.listing import describe

    print(describe(installed_catalog(), name))


def plugins() -> None:
    """List installed plugins and what is wrong with those that are broken."""
    from ..report.listing import plugin_table

    print(plugin_table(installed_catalog()))


def runs(out: Out = None) -> None:
    """List finished runs, newest first."""
    from ..report.listing import run_table
    from ..store.runs import Runs

    kept = Runs(out)
    print(run_table(kept, kept.root))
