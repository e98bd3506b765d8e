"""Loads plugins, each on its own, so that a broken one is named and the others work."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import Distribution, EntryPoint, entry_points
from types import ModuleType
from typing import Any, TypeVar

import pluggy

from .. import hookspecs
from ..errors import PluginError, UsageError, did_you_mean
from .cards import Adapter, Card, Component, Kind
from .class_cards import cards_of, has_hooks, parse_file
from .foreign_code import ForeignError, call_foreign
from .plugin_files import PluginFile, plugin_files, used_files

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
class HookCall:
    """One hook of a plugin, as it was called; "import" for the import, "classes" for reading a file."""

    hook: str
    seconds: float
    offered: int  # components, adapters or texts that it returned
    origin: str  # file:line


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
    calls: tuple[HookCall, ...] = ()  # in their order

    @property
    def title(self) -> str:
        return f"{self.name} ({self.distribution} {self.version})"


def load_plugins(
    without: Iterable[str] = (), points: Iterable[EntryPoint] | None = None, *, off: bool = False
) -> tuple[Plugin, ...]:
    """Load all plugins except those switched off; with `off`, only those switched off."""
    found = sorted(
        entry_points(group=hookspecs.GROUP) if points is None else points,
        key=lambda point: point.name,
    )
    files = plugin_files() if points is None else []
    unwanted = set(without) | set(filter(None, os.environ.get("ATTNX_WITHOUT", "").split(",")))
    known = [*(point.name for point in found), *(file.name for file in files)]
    for name in unwanted - set(known):
        raise UsageError(
            f"Cannot switch off plugin '{name}': it is not installed.{did_you_mean(name, known)} "
            "See 'attnx plugins'."
        )
    named = {dist: _name_and_version(dist) for dist in {point.dist for point in found}}
    chosen = (point for point in found if (point.name in unwanted) == off)
    chosen_files = (file for file in files if (file.name in unwanted) == off)
    return (
        *(load_plugin(point, *named[point.dist]) for point in chosen),
        *(_named_file(file) for file in chosen_files),
    )


def _named_file(file: PluginFile) -> Plugin:
    """Load a plugin that is a file; one that the user named must not be broken."""
    loaded = load_file(file)
    if loaded.failure and str(file.path) in used_files():
        raise PluginError(f"Plugin {loaded.title}: {loaded.failure}")
    return loaded


def load_plugin(point: EntryPoint, distribution: str, version: str) -> Plugin:
    """Load one plugin; any error becomes its `failure`."""
    before, started = {name for name in HEAVY if name in sys.modules}, time.perf_counter()
    calls: list[HookCall] = []
    try:
        hooks, origin = _register(point)
        taken = time.perf_counter() - started
        calls.append(HookCall("import", taken, 0, origin))
        components = tuple(
            Component(card, kind, point.name, distribution, version)
            for kind, hook in HOOK_OF_KIND.items()
            for card in _listed(hooks, hook, Card, calls)
        )
        adapters = tuple(_listed(hooks, "attnx_adapters", Adapter, calls))
        registry = "\n".join(_fragments(hooks, "attnx_registry", calls))
    except PluginError as error:
        return Plugin(point.name, distribution, version, failure=str(error), calls=tuple(calls))
    slow = _cost(taken, before)
    return Plugin(point.name, distribution, version, components, adapters, registry, "", slow, tuple(calls))


def load_file(file: PluginFile) -> Plugin:
    """Load a plugin that is a single file: by its hooks if it has any, else by its classes."""
    started = time.perf_counter()
    try:
        if has_hooks(parse_file(file)):
            point = EntryPoint(file.name, file.module, hookspecs.GROUP)
            return load_plugin(point, file.path.name, file.version)
        cards = cards_of(file)
        if not cards:
            raise PluginError(f"'{file.path}' has no class of attnx.plugin, such as Metric, and no hook")
    except PluginError as error:
        return Plugin(file.name, file.path.name, file.version, failure=str(error))
    components = tuple(Component(card, kind, file.name, file.path.name, file.version) for kind, card in cards)
    call = HookCall("classes", time.perf_counter() - started, len(cards), f"{file.path}:1")
    return Plugin(file.name, file.path.name, file.version, components, calls=(call,))


def _cost(seconds: float, before: set[str]) -> str:
    """Why the import of a plugin is slow; usually an empty string."""
    heavy = [name for name in HEAVY if name in sys.modules and name not in before]
    if heavy:
        return f"its import loads {', '.join(heavy)}; import them only in the modules of components"
    return f"its import takes {seconds:.1f} s" if seconds > SLOW else ""


def _register(point: EntryPoint) -> tuple[Any, str]:
    """Import the plugin into its own manager, so that it cannot break others; its hooks, and its file.

    Its hooks are looked for once: a module keeps them for as long as it is imported.
    """
    plugin = _attempt("import failed", point.load)
    origin = f"{getattr(plugin, '__file__', None) or point.value}:1"
    if isinstance(plugin, ModuleType) and plugin in _hooks:
        return _hooks[plugin], origin
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    _attempt("import failed", lambda: manager.register(plugin, name=point.name))
    _attempt("misspelled hook", manager.check_pending)
    if isinstance(plugin, ModuleType):
        _hooks[plugin] = manager.hook
    return manager.hook, origin


def _name_and_version(distribution: Distribution | None) -> tuple[str, str]:
    """Read the first lines of the metadata; parsing all of it takes longer than all else that is read."""
    head = (distribution.read_text("METADATA") or "").partition("\n\n")[0] if distribution else ""
    said = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    if distribution and not said.keys() >= {"Name", "Version"}:  # in another form, such as an egg's
        return distribution.name, distribution.version
    return said.get("Name", "?"), said.get("Version", "?")


def _listed(hooks: Any, hook: str, wanted: type[T], calls: list[HookCall]) -> Iterator[T]:
    with _timed(hooks, hook, calls) as offered:
        for found in _call(hooks, hook):
            offered += _attempt(f"hook '{hook}' failed", partial(list, found))
    for one in offered:
        if not isinstance(one, wanted):
            name = f"attnx.plugin.{wanted.__name__}"
            raise PluginError(f"hook '{hook}' must return a list of {name}, got {one!r}")
        yield one


def _fragments(hooks: Any, hook: str, calls: list[HookCall]) -> Iterator[str]:
    with _timed(hooks, hook, calls) as offered:
        offered += _call(hooks, hook)
    for text in offered:
        if not isinstance(text, str):
            raise PluginError(f"hook '{hook}' must return YAML text, got {text!r}")
        yield text


@contextmanager
def _timed(hooks: Any, hook: str, calls: list[HookCall]) -> Iterator[list[Any]]:
    """Note how long a hook takes and where it is written, if the plugin has it."""
    offered: list[Any] = []
    started = time.perf_counter()
    yield offered
    taken = time.perf_counter() - started
    for written in getattr(hooks, hook).get_hookimpls():
        code = getattr(written.function, "__code__", None)
        origin = f"{code.co_filename}:{code.co_firstlineno}" if code else repr(written.function)
        calls.append(HookCall(hook, taken, len(offered), origin))


def _call(hooks: Any, hook: str) -> list[Any]:
    return list(_attempt(f"hook '{hook}' failed", getattr(hooks, hook)))


def _attempt(what: str, action: Callable[[], Any]) -> Any:
    """Run code of a plugin, which may raise anything."""
    try:
        return call_foreign(action)
    except ForeignError as error:
        raise PluginError(f"{what}: {error}") from error.__cause__
