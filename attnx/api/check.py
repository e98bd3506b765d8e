"""`attnx.check`: whether a component keeps the laws of its kind, and what a model can do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError, did_you_mean_path
from ..host.catalog import Catalog
from .setup import installed_here

if TYPE_CHECKING:
    from ..testing.check_report import CheckReport, ComponentCheck


def check(component: str | Path | object, *, name: str = "") -> CheckReport:
    """Run the conformance tests of a component; for a model of your own, find out what it can do.

    `print(attnx.check(model))` shows one line per law. Nothing is raised when a law is broken: look at
    `passed` and `failures`. In the tests of a plugin, `attnx.testing.assert_conforms` raises instead.

    Args:
        component: the name of a component ("sparsegen:lam=0.5") or of a plugin; a place in your own code
            ("my_model.py", "my_model.py:model", "package.module:Model"); or the object itself: what
            `attnx.wrap` made, or anything that `attnx.evaluate` takes. A class is made without options.
        name: what the object is called in the report; by default the name of its class.

    Returns:
        One entry per component, with the result of every law.

    Raises:
        UsageError: there is no such component, file or object, or the object is not a component.
        PluginError: the plugin, or the file, cannot be imported.
    """
    from ..testing.check_report import CheckReport

    return CheckReport(tuple(check_each(component, installed_here(), name)))


def check_each(component: str | Path | object, catalog: Catalog, name: str = "") -> Iterator[ComponentCheck]:
    """Check one component after the other, so that each can be shown when it is done."""
    place = isinstance(component, str | Path) and _is_place(str(component))

    from ..testing.checking import check_by_name
    from ..wrapping.own_components import check_object, check_place

    if place:
        yield from check_place(str(component))
    elif isinstance(component, str):
        yield from check_by_name(catalog, component)
    else:
        yield check_object(component, name)


def _is_place(text: str) -> bool:
    """Whether a text is the place of a Python object, and not the name of a component with its options."""
    where, _, attribute = text.rpartition(":")
    file = next((part for part in (text, where) if part.endswith(".py")), None)
    if file is not None and not Path(file).is_file():
        raise UsageError(f"File '{file}' does not exist.{did_you_mean_path(file)}")
    return file is not None or bool(where and attribute.isidentifier())
