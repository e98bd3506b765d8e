"""What a caller asks for in Python, as choices: names, objects of his own, classes with options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..host.cards import Component, Kind
from ..host.catalog import Catalog
from .objects import Given
from .spec import Choice, Options


@dataclass
class Arguments:
    """The objects that stand for names in a spec, put aside as it is made."""

    catalog: Catalog
    objects: dict[tuple[Kind, str], Given] = field(default_factory=dict)

    def choices(self, kind: Kind, things: Any) -> tuple[Choice, ...]:
        """One thing is a list of one; so is a class with its options."""
        several = isinstance(things, list | tuple) and not _is_class_with_options(things)
        found = (self.choice(kind, thing) for thing in (things if several else (things,)))
        return tuple(choice for choice in found if choice is not None)

    def choice(self, kind: Kind, thing: Any) -> Choice | None:
        """A name as it is; a class of a plugin by its name; anything else under a name of its own."""
        if thing is None:
            return None
        if isinstance(thing, str):
            return Choice.parse(thing)
        options: Any = None
        if _is_class_with_options(thing):
            thing, options = thing
        if isinstance(thing, type):
            component = self._component(kind, thing)
            if component is not None:
                given = options.model_dump(exclude_unset=True) if isinstance(options, Options) else options
                return Choice(name=component.name, options=given or {})
        if isinstance(options, dict):
            raise UsageError(
                f"'{thing.__name__}' is no plugin's, so nothing says what its options are: give it an "
                "attnx.plugin.Options object in place of a dictionary."
            )
        name = thing.__name__ if isinstance(thing, type) else type(thing).__name__
        while (kind, name) in self.objects:  # two objects of one class
            name += "'"
        self.objects[kind, name] = Given(thing, options)
        return Choice(name=name)

    def _component(self, kind: Kind, wanted: type) -> Component | None:
        """The component whose class this is, if a plugin has announced it."""
        target = f"{wanted.__module__}:{wanted.__qualname__}"
        found = [component for component in self.catalog.of_kind(kind) if component.card.target == target]
        return found[0] if found else None


def _is_class_with_options(thing: Any) -> bool:
    return (
        isinstance(thing, tuple)
        and len(thing) == 2
        and isinstance(thing[0], type)
        and isinstance(thing[1], dict | Options)
    )
