"""What the catalog knows of a component without importing it."""

from __future__ import annotations

import importlib
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Literal, get_args

from ..errors import PluginError
from .sources import NoSource, first_line

Kind = Literal["task", "model", "projection", "importance", "metric", "study", "drawing"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

# What a component may need and another may provide. A plugin may add words of its own.
CAPABILITIES: Final = {
    "features": "units that are feature vectors",
    "words": "units that are words",
    "rationale": "known important units for every example",
    "query": "a query beside every example",
    "raw-text": "a model that reads texts as their files have them",
    "unseen-words": "words known that need not occur in train",
    "reads-query": "a model that reads the query beside the units",
    "images": "units that are images",
    "backgrounds": "units that say nothing of the label, to put in the place of others",
    "plane": "units that are points of a plane",
    "oracle": "scores of a perfect focus",
    "attention": "attention weights that can be read",
    "reattend": "attention weights that can be replaced",
    "projection": "attention made from scores by a projection of one's choice",
    "gradient": "a differentiable path from embeddings to output",
    "hidden": "a hidden state for every unit",
    "decode": "hidden states from which attention and output can be recomputed",
    "linear-decoder": "logits that are linear in attention",
    "deletion": "units that can be deleted one by one",
    "fast-deletion": "a fast path for deleting each unit in turn",
    "fast-influence": "a fast path for the influence of every unit on every hidden state",
    "notices": "remarks on the model for the reader of a report",
    "layers": "attention of several layers and heads",
    "rescale": "non-linearities that are modules of their own, used once in a pass",
    "reference": "a reference importance to compare with",
}


@dataclass(frozen=True, slots=True)
class Card:
    """One component as its plugin announces it: where it is, and what its class cannot say.

    `target` and `options` are "module:Class" paths. The rest is said by the class, whose source is
    read without importing it: a summary (the first line of its docstring), `needs`, `provides`, and
    the `dataset` of a task.
    """

    name: str
    target: str
    _: KW_ONLY
    options: str = ""
    recommends: tuple[str, ...] = ()  # a task's usual model, or the usual references of a metric
    plain: bool = False  # a metric that belongs to a run that names none
    citation: str = ""


@dataclass(frozen=True, slots=True)
class Component:
    """A card with its kind and the plugin that provides it."""

    card: Card
    kind: Kind
    plugin: str
    distribution: str
    version: str

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def provider(self) -> str:
        return f"{self.plugin} ({self.distribution} {self.version})"

    @property
    def summary(self) -> str:
        """The first line of the class's docstring; a component that is not there is still listed."""
        try:
            return first_line(self.card.target)
        except NoSource:
            return f"(the source of {self.card.target} cannot be found)"

    @property
    def needs(self) -> tuple[str, ...]:
        return self._words("needs")

    @property
    def provides(self) -> tuple[str, ...]:
        return self._words("provides")

    @property
    def dataset(self) -> str:
        """The entry of the registry that a task reads."""
        found = self._declared("dataset", "")
        if not isinstance(found, str):
            raise self._refusal("dataset", f"must be a text, not {found!r}")
        return found

    @property
    def demanding(self) -> bool:
        """Whether it has an option that must be given."""
        options = self.load_options()
        return options is not None and any(field.is_required() for field in options.model_fields.values())

    def definition(self) -> str:
        """What the class says of itself below its first line."""
        from .declarations import read_docstring  # a list of all components does without

        try:
            return read_docstring(self.card.target).partition("\n")[2].strip()
        except NoSource:
            return ""

    def load(self) -> Any:
        """Import the component's class."""
        return self._import(self.card.target)

    def load_options(self) -> Any:
        """Import the component's options class, or None when it takes no options."""
        return self._import(self.card.options) if self.card.options else None

    def _words(self, name: str) -> tuple[str, ...]:
        found = self._declared(name, ())
        if not isinstance(found, tuple) or not all(isinstance(word, str) for word in found):
            raise self._refusal(name, f"must be a tuple of texts, not {found!r}")
        return found

    def _declared(self, name: str, default: Any) -> Any:
        from .declarations import Unreadable, read_declaration

        try:
            found = read_declaration(self.card.target, name)
        except NoSource:  # compiled, or nowhere, which importing it says
            return getattr(self.load(), name, default)
        except Unreadable as reason:
            raise self._refusal(name, f"cannot be read without importing it: {reason}") from reason
        return default if found is None else found

    def _refusal(self, name: str, reason: str) -> PluginError:
        return PluginError(
            f"{self.kind} '{self.name}' of plugin {self.provider}: '{name}' of '{self.card.target}' {reason}"
        )

    def _import(self, path: str) -> Any:
        module, _, attribute = path.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except Exception as error:
            raise PluginError(
                f"{self.kind} '{self.name}' of plugin {self.provider} cannot be imported from "
                f"'{path}': {type(error).__name__}: {error}"
            ) from error
