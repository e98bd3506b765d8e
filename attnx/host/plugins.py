"""Loads plugins, each on its own, so that a broken one is named and the others work."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

import pluggy

from .. import hookspecs
from ..errors import PluginError, UsageError, did_you_mean
from .cards import Adapter, Card, Component, Kind
from .foreign_code import ForeignError, call_foreign

T = TypeVar("T")
HEAVY = ("torch", "transformers", "scipy", "sklearn", "pandas", "matplotlib")
SLOW = 0.5  # seconds; every command waits for the imports of plugins

HOOK_OF_KIND: dict[Kind, str] = {
    "task": "attnx_tasks",
    "model": "attnx_models",
    "projection": "attnx_projections",
    "importance": "attnx_importances",
    "metric": "attnx_metrics",
    "study": "attnx_studies",
    "drawing": "attnx_drawings",
}


@dataclass(frozen=True, slots=True)
class Plugin:
    """An installed plugin with its components, or the reason why it is broken."""

    name: str
    distribution: str
    version: str
    components: tuple[Component, ...] = ()
    adapters: tuple[Adapter, ...] = ()
    registry: str = ""
    failure: str = ""
    slow: str = ""  # why its import is slow, if it is

    @property
    def title(self) -> str:
        return f"{self.name} ({self.distribution} {self.version})"


def load_plugins(
    without: Iterable[str] = (), points: Iterable[EntryPoint] | None = None, *, off: bool = False
) -> tuple[Plugin, ...]:
    """Load all installed plugins except those switched off; with `off`, only those switched off."""
    found = sorted(
        entry_points(group=hookspecs.GROUP) if points is None else points,
        key=lambda point: point.name,
    )
    unwanted = set(without) | set(filter(None, os.environ.get("ATTNX_WITHOUT", "").split(",")))
    for name in unwanted - {point.name for point in found}:
        known = [point.name for point in found]
        raise UsageError(
            f"Cannot switch off plugin '{name}': it is not installed.{did_you_mean(name, known)} "
            "See 'attnx plugins'."
        )
    # Reading any metadata of a distribution parses all of it, so it is done once.
    distributions = {point.dist for point in found}
    named = {dist: (dist.name, dist.version) if dist else ("?", "?") for dist in distributions}
    chosen = (point for point in found if (point.name in unwanted) == off)
    return tuple(load_plugin(point, *named[point.dist]) for point in chosen)


def load_plugin(point: EntryPoint, distribution: str, version: str) -> Plugin:
    """Load one plugin; any error becomes its `failure`."""
    before, started = set(sys.modules), time.perf_counter()
    try:
        hooks = _register(point)
        slow = _cost(time.perf_counter() - started, before)
        components = tuple(
            Component(card, kind, point.name, distribution, version)
            for kind, hook in HOOK_OF_KIND.items()
            for card in _listed(hooks, hook, Card)
        )
        adapters = tuple(_listed(hooks, "attnx_adapters", Adapter))
        registry = "\n".join(_fragments(hooks, "attnx_registry"))
    except PluginError as error:
        return Plugin(point.name, distribution, version, failure=str(error))
    return Plugin(point.name, distribution, version, components, adapters, registry, slow=slow)


def _cost(seconds: float, before: set[str]) -> str:
    """Why the import of a plugin is slow; usually an empty string."""
    heavy = [name for name in HEAVY if name in sys.modules and name not in before]
    if heavy:
        return f"its import loads {', '.join(heavy)}; import them only in the modules of components"
    return f"its import takes {seconds:.1f} s" if seconds > SLOW else ""


def _register(point: EntryPoint) -> Any:
    """Import the plugin into its own manager, so that it cannot break others."""
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    _attempt("import failed", lambda: manager.register(point.load(), name=point.name))
    _attempt("misspelled hook", manager.check_pending)
    return manager.hook


def _listed(hooks: Any, hook: str, wanted: type[T]) -> Iterator[T]:
    for found in _call(hooks, hook):
        for one in _attempt(f"hook '{hook}' failed", partial(list, found)):
            if not isinstance(one, wanted):
                name = f"attnx.plugin.{wanted.__name__}"
                raise PluginError(f"hook '{hook}' must return a list of {name}, got {one!r}")
            yield one


def _fragments(hooks: Any, hook: str) -> Iterator[str]:
    for text in _call(hooks, hook):
        if not isinstance(text, str):
            raise PluginError(f"hook '{hook}' must return YAML text, got {text!r}")
        yield text


def _call(hooks: Any, hook: str) -> list[Any]:
    return list(_attempt(f"hook '{hook}' failed", getattr(hooks, hook)))


def _attempt(what: str, action: Callable[[], Any]) -> Any:
    """Run code of a plugin, which may raise anything."""
    try:
        return call_foreign(action)
    except ForeignError as error:
        raise PluginError(f"{what}: {error}") from error.__cause__
