"""`attnx list`, `attnx info` and `attnx plugins`: what is installed."""

import sys
from typing import Annotated

import typer

from ..escaping import printable
from ..host.cards import KINDS
from .completion import kinds, names_of
from .global_options import switched_off
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
    from .. import components

    found = components.list(kind, without=switched_off)
    if json:
        from ..views.components import to_json

        sys.stdout.write(to_json(found))
        return
    from ..views.terminal.components import listing

    print(printable(listing(found, kind), lines=True))


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
    from .. import components

    found = components.info(name, without=switched_off)
    if json:
        from ..views.components import to_json

        sys.stdout.write(to_json(found))
        return
    from ..views.terminal.components import describe

    print(printable(describe(found), lines=True))


def plugins(
    trace: Annotated[
        bool,
        typer.Option("--trace", help="Show how long every import and hook took, and where it is written."),
    ] = False,
    json: Json = False,
) -> None:
    """List the installed plugins, with errors of broken ones.

    Examples:

      attnx plugins

      attnx plugins --trace

      attnx plugins --plugin my_metric.py
    """
    from .. import components

    found = components.plugins(trace=trace, without=switched_off)
    if json:
        from ..views.components import to_json

        sys.stdout.write(to_json(found))
        return
    from ..views.terminal.components import plugin_table, plugin_trace

    print(printable(plugin_trace(found) if trace else plugin_table(found), lines=True))
