"""What the catalog knows about a component without importing it."""

from __future__ import annotations

import importlib
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Literal, get_args

from ..errors import PluginError
from .foreign_code import ForeignError, call_foreign
from .sources import NoSource, first_line

Kind = Literal["task", "model", "projection", "importance", "metric", "study", "drawing"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
# How the scores of a method depend on the class that is explained: not at all; in any way; or linearly in its
# output, so that the scores of a difference of two classes are the difference of their scores.
TargetUse = Literal["ignored", "read", "linear"]

# What one component may need and another may provide. A plugin may add its own.
CAPABILITIES: Final = {
    "features": "units that are feature vectors",
    "words": "units that are words",
    "sentences": "units that are sentences",
    "paragraphs": "units that are paragraphs",
    "rationale": "known important units (a rationale) for every example",
    "pairs": "pairs of texts that differ only in the words that decide",
    "query": "a query with every example",
    "own-classes": "a model that knows the names of its classes",
    "raw-text": "a model that reads texts as their files have them",
    "unseen-words": "a vocabulary that includes words outside the training split",
    "reads-query": "a model that reads the query too",
    "images": "units that are images",
    "backgrounds": "neutral units that can replace others",
    "plane": "units that are points of a plane",
    "oracle": "the scores of a perfect focus model",
    "attention": "attention weights that can be read",
    "reattend": "attention weights that can be replaced",
    "projection": "attention computed by a projection that can be chosen",
    "gradient": "a differentiable path from embeddings to output",
    "hidden": "a hidden state for every unit",
    "decode": "hidden states from which attention and output can be recomputed",
    "linear-decoder": "logits that are linear in attention",
    "deletion": "units that can be deleted one by one",
    "fast-deletion": "a fast path for deleting each unit in turn",
    "fast-logits": "a fast path for the output of many inputs",
    "frozen-states": "hidden states that training does not change",
    "fast-influence": "a fast path for the influence of every unit on every hidden state",
    "fast-gradients": "a fast path for gradients at many points",
    "fast-replacement": "a fast path for replacing the embeddings of many subsets of units",
    "notices": "notes about the model for the report",
    "layers": "attention of several layers and heads",
    "one-layer": "attention of one layer by itself",
    "answers": "answers in the words of a language model",
    "layer-states": "states of several layers, and what attention hands on in each",
    "rescale": "non-linearities as separate modules, each used once per forward pass",
    "reference": "a reference importance to compare with",
}


@dataclass(frozen=True, slots=True)
class Card:
    """A component as its plugin lists it: its name, and where its class is.

    `target` and `options` are "module:Class" paths. The rest is read from the source of the class, without
    importing it: a summary (the first line of the docstring), `needs`, `provides`, and the `dataset` of a
    task.
    """

    name: str
    target: str
    _: KW_ONLY
    options: str = ""
    recommends: tuple[str, ...] = ()  # the default model of a task, or the default references of a metric
    plain: bool = False  # a metric of the standard set, used if no metric is named
    citation: str = ""


@dataclass(frozen=True, slots=True)
class Adapter:
    """A function that makes a task, a model or an importance method of objects of another library.

    `accepts` lists their types as "module:Class", base classes included, so that nothing is imported to find
    an adapter. `target` and `options` are "module:name" paths; the function is called with the object and, if
    the adapter takes options, with these.
    """

    kind: Literal["task", "model", "importance"]
    accepts: tuple[str, ...]
    target: str
    options: str = ""

    def fits(self, thing: object) -> bool:
        """Tell whether an object is of a type that the adapter accepts."""
        bases = {f"{base.__module__}:{base.__qualname__}" for base in type(thing).__mro__}
        return not bases.isdisjoint(self.accepts)


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
        """The first line of the docstring of the class; a placeholder if its source is missing."""
        try:
            return first_line(self.card.target)
        except NoSource:
            return f"(the source of {self.card.target} was not found)"

    @property
    def needs(self) -> tuple[str, ...]:
        return self._words("needs")

    @property
    def provides(self) -> tuple[str, ...]:
        return self._words("provides")

    @property
    def joint(self) -> bool:
        """Whether a metric measures all explanations together."""
        return bool(self._declared("joint", False))

    @property
    def family(self) -> str:
        """What a metric tests."""
        return str(self._declared("family", ""))

    @property
    def dataset(self) -> str:
        """The dataset of the registry that a task reads."""
        found = self._declared("dataset", "")
        if not isinstance(found, str):
            raise self._refusal("dataset", f"must be a string, not {found!r}.")
        return found

    @property
    def cost(self) -> str:
        """What using it costs, in words."""
        return str(self._declared("cost", ""))

    @property
    def cannot(self) -> str:
        """What its results cannot tell, in words."""
        return str(self._declared("cannot", ""))

    def measures(self) -> tuple[tuple[str, str, tuple[float, float]], ...]:
        """Name, direction and bounds of a metric's measures, as far as they are literals."""
        from .declarations import read_measures

        return read_measures(self.card.target) if self.kind == "metric" else ()

    @property
    def demanding(self) -> bool:
        """Whether it has a required option."""
        options = self.load_options()
        return options is not None and any(field.is_required() for field in options.model_fields.values())

    def definition(self) -> str:
        """The docstring of the class below its first line."""
        from .declarations import read_docstring  # not needed to list components

        try:
            return read_docstring(self.card.target).partition("\n")[2].strip()
        except NoSource:
            return ""

    def load(self) -> Any:
        """Import the component's class."""
        return self._import(self.card.target)

    def load_options(self) -> Any:
        """Import the options class of the component; None if it has no options."""
        return self._import(self.card.options) if self.card.options else None

    def _words(self, name: str) -> tuple[str, ...]:
        found = self._declared(name, ())
        if not isinstance(found, tuple) or not all(isinstance(word, str) for word in found):
            raise self._refusal(name, f"must be a tuple of strings, not {found!r}.")
        return found

    def _declared(self, name: str, default: Any) -> Any:
        from .declarations import Unreadable, read_declaration

        try:
            found = read_declaration(self.card.target, name)
        except NoSource:  # compiled, or missing; importing it tells
            return getattr(self.load(), name, default)
        except Unreadable as reason:
            raise self._refusal(name, f"cannot be read without importing it: {reason}.") from reason
        return default if found is None else found

    def _refusal(self, name: str, reason: str) -> PluginError:
        return PluginError(
            f"The {self.kind} '{self.name}' of plugin {self.provider}: "
            f"'{name}' of '{self.card.target}' {reason}"
        )

    def _import(self, path: str) -> Any:
        module, _, attribute = path.partition(":")
        try:
            return call_foreign(lambda: getattr(importlib.import_module(module), attribute))
        except ForeignError as error:
            raise PluginError(
                f"The {self.kind} '{self.name}' of plugin {self.provider} cannot be imported from "
                f"'{path}': {error}"
            ) from error.__cause__
