"""The catalog: all components of all plugins, found by kind and name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import PluginError, UsageError, did_you_mean
from .cards import Component, Kind
from .plugins import Plugin, load_plugins

if TYPE_CHECKING:
    from ..registry.schema import Composition, Registry


@dataclass(frozen=True)
class Catalog:
    """All installed plugins and their components, indexed by kind and name."""

    plugins: tuple[Plugin, ...]
    without: tuple[str, ...] = ()  # names of the plugins that are switched off

    @classmethod
    def installed(cls, without: Iterable[str] = ()) -> Catalog:
        """The catalog of the installed plugins, read again on every call."""
        return cls(load_plugins(without), tuple(without))

    @cached_property
    def registry(self) -> Registry:
        """Named models, datasets and experiments of the project and its plugins."""
        from ..registry.schema import read_registry  # importing pydantic takes time

        return read_registry(self.plugins)

    @cached_property
    def components(self) -> dict[tuple[Kind, str], tuple[Component, ...]]:
        found: dict[tuple[Kind, str], tuple[Component, ...]] = {}
        for plugin in self.plugins:
            for component in plugin.components:
                key = (component.kind, component.name)
                found[key] = (*found.get(key, ()), component)
        return found

    @property
    def warnings(self) -> list[str]:
        """One line for each broken plugin and for each name that two plugins use."""
        broken = [f"Plugin {p.title} is ignored: {p.failure}" for p in self.plugins if p.failure]
        return broken + [_clash(claims) for claims in self.components.values() if len(claims) > 1]

    def of_kind(self, kind: Kind) -> list[Component]:
        """Components of one kind in alphabetical order."""
        return sorted(
            (claims[0] for (of, _), claims in self.components.items() if of == kind),
            key=lambda component: component.name,
        )

    def find(self, kind: Kind, name: str) -> Component:
        """The component of this kind and name; an error names the nearest one."""
        claims = self.components.get((kind, name), ())
        if len(claims) > 1:
            raise PluginError(_clash(claims))
        if claims:
            return claims[0]
        known = [component.name for component in self.of_kind(kind)]
        raise self._switched_off(kind, name) or self._unknown(kind, name, known)

    def find_model(self, name: str) -> tuple[Component, Composition | None]:
        """The model of this name; for a named model, its component and its settings."""
        if ("model", name) in self.components:
            return self.find("model", name), None
        composition = self.registry.models.get(name)
        if composition is None:
            known = [component.name for component in self.of_kind("model")]
            unknown = self._unknown("model", name, [*known, *self.registry.models])
            raise self._switched_off("model", name) or unknown
        return self.find("model", composition.model), composition

    def find_any(self, name: str) -> list[Component]:
        """All components of this name, of any kind."""
        return [self.find(kind, key) for kind, key in self.components if key == name]

    def _switched_off(self, kind: Kind, name: str) -> UsageError | None:
        """The error of a component whose plugin the user has switched off."""
        for plugin in load_plugins(self.without, off=True):
            if any((component.kind, component.name) == (kind, name) for component in plugin.components):
                return UsageError(
                    f"The {kind} '{name}' belongs to plugin {plugin.title}, which is switched off "
                    f"(--without, ATTNX_WITHOUT). Switch it on, or choose another {kind}."
                )
        return None

    def _unknown(self, kind: str, name: str, known: list[str]) -> UsageError | PluginError:
        nearest = did_you_mean(name, known)
        broken = [plugin for plugin in self.plugins if plugin.failure]
        if broken and not nearest:
            plugin = broken[0]
            return PluginError(
                f"Unknown {kind} '{name}'. It may belong to plugin {plugin.title}, "
                f"which is broken: {plugin.failure}"
            )
        available = ", ".join(sorted(known)) or "none"
        return UsageError(f"Unknown {kind} '{name}'.{nearest} Available: {available}.")


def _clash(claims: tuple[Component, ...]) -> str:
    providers = " and ".join(claim.provider for claim in claims)
    return (
        f"Two plugins provide the {claims[0].kind} '{claims[0].name}': {providers}. "
        f"Switch one off, e.g. with --without {claims[-1].plugin}."
    )
