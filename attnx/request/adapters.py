"""From an object of another library, such as a DataFrame or a function, to a component."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ..errors import AttnxError, PluginError, UsageError
from ..host.cards import Adapter, Kind
from ..host.catalog import Catalog
from .objects import Given
from .spec import validate_options


def adapted(catalog: Catalog, kind: Kind, thing: object, options: Mapping[str, Any]) -> Given | None:
    """Make a component of an object that a plugin has an adapter for; None if no plugin has one.

    Raises:
        PluginError: two plugins have an adapter for it, or its adapter fails.
        UsageError: the adapter does not take these options.
    """
    found = [
        (adapter, plugin)
        for plugin in catalog.plugins
        for adapter in plugin.adapters
        if adapter.kind == kind and adapter.fits(thing)
    ]
    if not found:
        return None
    what = f"{kind} from a {type(thing).__name__}"
    if len(found) > 1:
        titles = " and ".join(plugin.title for _, plugin in found)
        raise PluginError(f"Two plugins make a {what}: {titles}. Switch one off with --without.")
    ((adapter, plugin),) = found
    try:
        return _call(adapter, thing, options, what)
    except (AttnxError, OSError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise PluginError(
            f"Plugin {plugin.title} failed to make a {what}: {type(error).__name__}: {reason}"
        ) from error


def _call(adapter: Adapter, thing: object, options: Mapping[str, Any], what: str) -> Given:
    make = _imported(adapter.target)
    if not adapter.options:
        if options:
            raise UsageError(f"A {what} takes no options.")
        return Given(make(thing))
    chosen = validate_options(_imported(adapter.options), dict(options), f"a {what}")
    return Given(make(thing, chosen), chosen)


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
