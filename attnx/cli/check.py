"""`attnx check`: the laws that a component is bound by."""

from typing import Annotated

import typer

from ..host.cards import KINDS
from .completion import names_of
from .installed import installed_catalog


def check(
    name: Annotated[
        str,
        typer.Argument(
            help="A component, with options as NAME:key=value, or a plugin or its distribution.",
            autocompletion=names_of(*KINDS),
        ),
    ],
) -> None:
    """Run the laws that a component, or all of a plugin, is bound by.

    Examples:

      attnx check softmax

      attnx check sdc
    """
    from ..testing import check_named

    passed = True
    for result in check_named(installed_catalog(), name):
        print(result)
        passed = passed and not result.failure
    if not passed:
        raise typer.Exit(1)
