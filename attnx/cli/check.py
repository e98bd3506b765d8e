"""`attnx check`: the laws that a component is bound by."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UsageError
from ..host.cards import KINDS
from .catalog import installed_catalog
from .completion import names_of


def check(
    name: Annotated[
        str,
        typer.Argument(
            help="A component, with options as NAME:key=value; a plugin or its distribution; or an "
            "object of your own, as module:name, file.py:name or file.py.",
            autocompletion=names_of(*KINDS),
        ),
    ],
) -> None:
    """Run the laws that a component, or all of a plugin, is bound by; say what a wrapped model can do.

    Examples:

      attnx check softmax

      attnx check sdc

      attnx check my_model.py:model
    """
    passed = True
    if _is_place(name):
        from ..wrapping.check import check_place

        for found in check_place(name):
            print(found)
            passed = passed and found.passed
        if not passed:
            raise typer.Exit(1)
        return
    from ..testing import check_named

    for result in check_named(installed_catalog(), name):
        print(result)
        passed = passed and not result.failure
    if not passed:
        raise typer.Exit(1)


def _is_place(name: str) -> bool:
    """Whether this names an object by its place, not a component by its name and options."""
    where, _, attribute = name.rpartition(":")
    file = next((part for part in (name, where) if part.endswith(".py")), None)
    if file is not None and not Path(file).is_file():
        raise UsageError(f"There is no file '{file}' to check.")
    return file is not None or bool(where and attribute.isidentifier())
