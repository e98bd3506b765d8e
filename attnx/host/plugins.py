"""The plugin host: loads every entry point on its own and says whose fault a failure is."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from .. import hookspecs
from ..errors import PluginError, UsageError, did_you_mean
from .cards import Card, Component, Kind

HEAVY = ("torch", "transformers", "scipy", "sklearn", "pandas", "matplotlib")
SLOW = 0.5  # seconds of an import that every command waits for

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
    """One installed plugin and what it announces, or why it cannot."""

    name: str
    distribution: str
    version: str
    components: tuple[Component, ...] = ()
    registry: str = ""
    failure: str = ""
    slow: str = ""  # what its import costs everybody, where that is much

    @property
    def title(self) -> str:
        return f"{self.name} ({self.distribution} {self.version})"


def load_plugins(
    without: Iterable[str] = (), points: Iterable[EntryPoint] | None = None, *, off: bool = False
) -> tuple[Plugin, ...]:
    """Load every installed plugin but those switched off, or these; a broken one comes with its failure."""
    found = sorted(
        entry_points(group=hookspecs.GROUP) if points is None else points,
        key=lambda point: point.name,
    )
    unwanted = set(without) | set(filter(None, os.environ.get("ATTNX_WITHOUT", "").split(",")))
    for name in unwanted - {point.name for point in found}:
        known = [point.name for point in found]
        raise UsageError(
            f"cannot switch off plugin '{name}': it is not installed.{did_you_mean(name, known)}"
        )
    # The metadata of a distribution is parsed whenever it is asked for anything.
    distributions = {point.dist for point in found}
    named = {dist: (dist.name, dist.version) if dist else ("?", "?") for dist in distributions}
    chosen = (point for point in found if (point.name in unwanted) == off)
    return tuple(load_plugin(point, *named[point.dist]) for point in chosen)


def load_plugin(point: EntryPoint, distribution: str, version: str) -> Plugin:
    """Load one entry point into a plugin; whatever goes wrong becomes its failure."""
    before, started = set(sys.modules), time.perf_counter()
    try:
        hooks = _register(point)
        slow = _cost(time.perf_counter() - started, before)
        components = tuple(
            Component(card, kind, point.name, distribution, version)
            for kind, hook in HOOK_OF_KIND.items()
            for card in _cards(hooks, hook)
        )
        registry = "\n".join(_fragments(hooks, "attnx_registry"))
    except PluginError as error:
        return Plugin(point.name, distribution, version, failure=str(error))
    return Plugin(point.name, distribution, version, components, registry, slow=slow)


def _cost(seconds: float, before: set[str]) -> str:
    """What is wrong with an import that every command waits for; nothing, mostly."""
    heavy = [name for name in HEAVY if name in sys.modules and name not in before]
    if heavy:
        return f"its import brings {', '.join(heavy)}: import it in the components' modules alone"
    return f"its import takes {seconds:.1f} s" if seconds > SLOW else ""


def _register(point: EntryPoint) -> Any:
    """Import the plugin into a manager of its own, so that nothing it breaks is shared."""
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    _attempt("import failed", lambda: manager.register(point.load(), name=point.name))
    _attempt("misspelled hook", manager.check_pending)
    return manager.hook


def _cards(hooks: Any, hook: str) -> Iterator[Card]:
    for cards in _call(hooks, hook):
        for card in _attempt(f"hook '{hook}' failed", partial(list, cards)):
            if not isinstance(card, Card):
                raise PluginError(f"hook '{hook}' must return a list of attnx.plugin.Card, got {card!r}")
            yield card


def _fragments(hooks: Any, hook: str) -> Iterator[str]:
    for text in _call(hooks, hook):
        if not isinstance(text, str):
            raise PluginError(f"hook '{hook}' must return YAML text, got {text!r}")
        yield text


def _call(hooks: Any, hook: str) -> list[Any]:
    return list(_attempt(f"hook '{hook}' failed", getattr(hooks, hook)))


def _attempt(what: str, action: Callable[[], Any]) -> Any:
    """Run a plugin's own code, which may raise anything at all."""
    try:
        return action()
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())
        raise PluginError(f"{what}: {type(error).__name__}: {reason}") from error
