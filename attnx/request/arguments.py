"""From what a caller passes in Python, names, objects or classes with options, to the choices of a spec."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from ..errors import UsageError
from ..host.cards import Component, Kind
from ..host.catalog import Catalog
from .adapters import adapted
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
        elif kind in ("task", "model", "importance"):
            adapter_options: dict[str, Any] = {}
            held: object = thing
            if _is_object_with_options(thing):
                held, adapter_options = thing
            made = adapted(self.catalog, kind, held, adapter_options)
            if made is not None:
                return self._own(kind, _name_of(held), made)
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
        return self._own(kind, _name_of(thing), Given(thing, options))

    def _own(self, kind: Kind, name: str, given: Given) -> Choice:
        """Keep an object under the name of its class."""
        while (kind, name) in self.objects:  # two objects of one class
            name += "'"
        self.objects[kind, name] = given
        return Choice(name=name)

    def _component(self, kind: Kind, wanted: type) -> Component | None:
        """Find the installed component that has this class."""
        target = f"{wanted.__module__}:{wanted.__qualname__}"
        found = [component for component in self.catalog.of_kind(kind) if component.card.target == target]
        return found[0] if found else None


def _name_of(thing: object) -> str:
    """The name of a class or a function, or of the class of an object."""
    named = thing if isinstance(thing, type) or inspect.isroutine(thing) else type(thing)
    return str(named.__name__)


def _is_object_with_options(thing: object) -> TypeGuard[tuple[object, dict[str, Any]]]:
    return isinstance(thing, tuple) and len(thing) == 2 and isinstance(thing[1], dict)


def _is_class_with_options(thing: object) -> TypeGuard[tuple[type, dict[str, Any] | Options]]:
    return (
        isinstance(thing, tuple)
        and len(thing) == 2
        and isinstance(thing[0], type)
        and isinstance(thing[1], dict | Options)
    )
