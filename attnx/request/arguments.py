"""From what a caller passes in Python, names, objects or classes with options, to the choices of a spec."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeGuard

from ..errors import UsageError
from ..host.cards import Component, Kind
from ..host.catalog import Catalog
from .objects import Given
from .spec import Choice, Options


@dataclass
class Arguments:
    """Turns arguments into choices, and keeps the objects among them under names of their own."""

    catalog: Catalog
    objects: dict[tuple[Kind, str], Given] = field(default_factory=dict)

    def choices(self, kind: Kind, things: object) -> tuple[Choice, ...]:
        """Turn one argument, or a list of them, into choices; a class with its options is one."""
        if isinstance(things, list | tuple) and not _is_class_with_options(things):
            found = [self.choice(kind, thing) for thing in things]
        else:
            found = [self.choice(kind, things)]
        return tuple(choice for choice in found if choice is not None)

    def choice(self, kind: Kind, thing: object) -> Choice | None:
        """Turn one argument into a choice: a name, the class of a component, or any other object."""
        if thing is None:
            return None
        if isinstance(thing, str):
            return Choice.parse(thing)
        options: dict[str, Any] | Options | None = None
        if _is_class_with_options(thing):
            thing, options = thing
        if isinstance(thing, type):
            component = self._component(kind, thing)
            if component is not None:
                given = options.model_dump(exclude_unset=True) if isinstance(options, Options) else options
                return Choice(name=component.name, options=given or {})
        if isinstance(options, dict):
            raise UsageError(
                f"'{_name_of(thing)}' belongs to no plugin, so its options are unknown: pass an "
                "attnx.plugin.Options object instead of a dictionary."
            )
        name = _name_of(thing)
        while (kind, name) in self.objects:  # two objects of one class
            name += "'"
        self.objects[kind, name] = Given(thing, options)
        return Choice(name=name)

    def _component(self, kind: Kind, wanted: type) -> Component | None:
        """Find the installed component that has this class."""
        target = f"{wanted.__module__}:{wanted.__qualname__}"
        found = [component for component in self.catalog.of_kind(kind) if component.card.target == target]
        return found[0] if found else None


def _name_of(thing: object) -> str:
    return thing.__name__ if isinstance(thing, type) else type(thing).__name__


def _is_class_with_options(thing: object) -> TypeGuard[tuple[type, dict[str, Any] | Options]]:
    return (
        isinstance(thing, tuple)
        and len(thing) == 2
        and isinstance(thing[0], type)
        and isinstance(thing[1], dict | Options)
    )
