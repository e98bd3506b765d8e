"""What the catalog knows of a component without importing it."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from ..errors import PluginError

Kind = Literal["task", "model", "projection", "importance", "metric", "study"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

# What a component may need and another may provide. A plugin may add words of its own.
CAPABILITIES: Final = {
    "features": "units that are feature vectors",
    "words": "units that are words",
    "rationale": "known important units for every example",
    "query": "a query beside every example",
    "reads-query": "a model that reads the query beside the units",
    "images": "units that are images",
    "oracle": "scores of a perfect focus",
    "attention": "attention weights that can be replaced",
    "gradient": "a differentiable path from embeddings to output",
    "hidden": "a hidden state for every unit, from which the output can be recomputed",
    "linear-decoder": "logits that are linear in attention",
    "deletion": "units that can be deleted one by one",
    "fast-deletion": "a fast path for deleting each unit in turn",
    "fast-influence": "a fast path for the influence of every unit on every hidden state",
    "rescale": "non-linearities that are modules of their own, used once in a pass",
    "reference": "a reference importance to compare with",
}


@dataclass(frozen=True, slots=True)
class Card:
    """One component as its plugin announces it: facts only, nothing imported.

    `target` and `options` are "module:Class" paths. `needs` and `provides` repeat the class
    attributes of the same name, so that a pairing can be judged before anything heavy is imported;
    `attnx check` holds the two equal.
    """

    name: str
    target: str
    summary: str
    options: str = ""
    needs: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    recommends: tuple[str, ...] = ()  # a task's usual model, or the usual references of a metric
    costly: bool = False  # a metric that is left out of a run that names no metric
    dataset: str = ""  # the entry of the registry that a task reads
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

    def load(self) -> Any:
        """Import the component's class."""
        return self._import(self.card.target)

    def load_options(self) -> Any:
        """Import the component's options class, or None when it takes no options."""
        return self._import(self.card.options) if self.card.options else None

    def definition(self) -> str:
        """What the class says of itself below its first line, read from its source and not imported."""
        module, _, name = self.card.target.partition(":")
        try:
            spec = importlib.util.find_spec(module)
            tree = ast.parse(Path(spec.origin).read_bytes() if spec and spec.origin else "")
        except (ImportError, OSError, SyntaxError):  # whoever imports it will be told
            return ""
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        said = next((ast.get_docstring(node) for node in classes if node.name == name), None)
        return (said or "").partition("\n")[2].strip()

    def _import(self, path: str) -> Any:
        module, _, attribute = path.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except Exception as error:
            raise PluginError(
                f"{self.kind} '{self.name}' of plugin {self.provider} cannot be imported from "
                f"'{path}': {type(error).__name__}: {error}"
            ) from error
