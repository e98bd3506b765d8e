"""Loads plugins, each on its own, so that a broken one is named and the others work."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import Distribution, EntryPoint, entry_points
from types import ModuleType
from typing import Any, TypeVar

import pluggy

from .. import hookspecs
from ..errors import PluginError, UsageError, did_you_mean
from .cards import Adapter, Card, Component, Kind
from .foreign_code import ForeignError, call_foreign

T = TypeVar("T")
HEAVY = ("torch", "transformers", "scipy", "sklearn", "pandas", "matplotlib")
SLOW = 0.5  # seconds; every command waits for the imports of plugins
_hooks: dict[ModuleType, Any] = {}  # of every plugin that was loaded

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
    named = {dist: _name_and_version(dist) for dist in {point.dist for point in found}}
    chosen = (point for point in found if (point.name in unwanted) == off)
    return tuple(load_plugin(point, *named[point.dist]) for point in chosen)


def load_plugin(point: EntryPoint, distribution: str, version: str) -> Plugin:
    """Load one plugin; any error becomes its `failure`."""
    before, started = {name for name in HEAVY if name in sys.modules}, time.perf_counter()
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
    """Import the plugin into its own manager, so that it cannot break others.

    Its hooks are looked for once: a module keeps them for as long as it is imported.
    """
    plugin = _attempt("import failed", point.load)
    if isinstance(plugin, ModuleType) and plugin in _hooks:
        return _hooks[plugin]
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    _attempt("import failed", lambda: manager.register(plugin, name=point.name))
    _attempt("misspelled hook", manager.check_pending)
    if isinstance(plugin, ModuleType):
        _hooks[plugin] = manager.hook
    return manager.hook


def _name_and_version(distribution: Distribution | None) -> tuple[str, str]:
    """Read the first lines of the metadata; parsing all of it takes longer than all else that is read."""
    head = (distribution.read_text("METADATA") or "").partition("\n\n")[0] if distribution else ""
    said = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    if distribution and not said.keys() >= {"Name", "Version"}:  # in another form, such as an egg's
        return distribution.name, distribution.version
    return said.get("Name", "?"), said.get("Version", "?")


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
