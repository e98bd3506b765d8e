"""`attnx check`: the conformance tests of a component, a plugin or a model of your own."""

from typing import Annotated

import typer

from ..host.cards import KINDS
from .completion import names_of
from .global_options import installed_catalog


def check(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A component (options follow as NAME:key=value), a plugin, its distribution, or a Python "
            "object of your own: module:name, file.py:name or file.py.",
            autocompletion=names_of(*KINDS),
        ),
    ],
) -> None:
    """Run a component's conformance tests.

    For a plugin, all its components are tested. For a model of your own, the output also lists which
    explanations and metrics it supports.

    Examples:

      attnx check softmax

      attnx check sdc

      attnx check my_model.py:model
    """
    from ..api.check import check_each

    passed = True
    for found in check_each(name, installed_catalog()):
        print(found)
        passed = passed and found.passed
    if not passed:
        raise typer.Exit(1)
