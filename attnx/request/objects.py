"""Components that are Python objects of the caller: any object with the right methods is accepted.

What an object does not declare has the default of its protocol. What is missing is reported in one line.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..errors import UsageError
from ..host.cards import CAPABILITIES, Kind
from .plan import Part
from .spec import Options

PROTOCOLS: Final[dict[Kind, str]] = {
    "task": "Task",
    "model": "Model",
    "projection": "AttentionProjection",
    "importance": "ImportanceMethod",
    "metric": "Metric",
    "study": "Study",
    "drawing": "Drawing",
}
# The defaults of the protocols' declarations; a test compares them with the protocols.
DEFAULTS: Final[dict[Kind, dict[str, Any]]] = {
    "task": {"needs": (), "provides": (), "dataset": ""},
    "model": {
        "needs": (),
        "provides": ("attention", "reattend", "projection", "gradient", "hidden", "decode"),
    },
    "projection": {"trains_by_expectation": False},
    "importance": {
        "needs": (),
        "passes": 0,
        "target_use": "read",
        "signed": False,
        "computed": True,
        "check": lambda examples: None,  # noqa: ARG005
    },
    "study": {"needs": ()},
    "drawing": {"needs": (), "examples": 400},
    "metric": {
        "needs": (),
        "sees": "units",
        "passes": 0,
        "reads_explanation": True,
        "cost": "",
        "cannot": "",
        "whole_split": False,
        "follows_training": False,
        "axis": None,
        "joint": False,
        "deletes": lambda evidence: None,  # noqa: ARG005
    },
}
METHODS: Final[dict[Kind, tuple[str, ...]]] = {
    "task": ("load",),
    "model": ("encode", "embed", "run"),
    "projection": ("__call__",),
    "importance": ("__call__",),
    "study": ("__call__",),
    "drawing": ("collect", "draw"),
    "metric": ("family", "measures"),
}
OF_MODULES: Final = ("parameters", "state_dict", "load_state_dict", "train", "eval", "to")
STUBS: Final = "attnx.protocols"  # the methods found there are empty: a component must define its own


@dataclass(frozen=True)
class Given:
    """An object or class of the caller instead of a name, with the options that the class is made with."""

    thing: Any
    options: Options | None = None


Objects = Mapping[tuple[Kind, str], Given]


def given_part(kind: Kind, label: str, thing: Any, options: Options | None = None) -> Part:
    """Make a part of an object, or of a class; a class is instantiated here unless it is a model."""
    if isinstance(thing, type) and kind != "model":
        thing = _made(kind, label, thing, options)
    for name in _required(kind, label, thing):
        if not _has(thing, name):
            whole = kind == "metric" and getattr(thing, "whole_split", False)
            protocol = "SplitMetric" if whole else PROTOCOLS[kind]
            a = "an" if kind[0] in "aeiou" else "a"
            raise UsageError(f"'{label}' is not {a} {kind}: it has no '{name}'. See attnx.plugin.{protocol}.")
    completed = complete(kind, thing)
    also = options or Options()
    needs, provides = (tuple(_declared(kind, thing, word)) for word in ("needs", "provides"))
    return Part(
        kind, label, also, (*needs, *also.also_needs), (*provides, *also.also_provides), None, completed
    )


def complete(kind: Kind, thing: Any) -> Any:
    """Add the defaults of what an object does not declare; the class of a model stays as it is."""
    missing = {name: default for name, default in DEFAULTS[kind].items() if not hasattr(thing, name)}
    if kind == "model" and not isinstance(thing, type) and not _has(thing, "attention_parameters"):
        missing["attention_parameters"] = tuple  # none
    if not missing or isinstance(thing, type):
        return thing
    if hasattr(thing, "register_module"):  # a module stays itself, with its parameters
        for name, default in missing.items():
            setattr(thing, name, default)
        return thing
    return _Completed(thing, missing)


class _Completed:
    """An object and the declarations that it left out."""

    def __init__(self, thing: Any, missing: dict[str, Any]) -> None:
        self._thing = thing
        vars(self).update(missing)

    def __getattr__(self, name: str) -> Any:
        if name == "_thing":  # a copy has none while it is being made
            raise AttributeError(name)
        return getattr(self._thing, name)

    def __call__(self, *arguments: Any) -> Any:
        return self._thing(*arguments)


def _made(kind: Kind, label: str, thing: type, options: Options | None) -> Any:
    try:
        return thing(options) if options is not None else thing()
    except TypeError as error:
        raise UsageError(f"The {kind} '{label}' could not be created from its class: {error}.") from error


def _required(kind: Kind, label: str, thing: Any) -> list[str]:
    """List the names that an object must have, given what it declares."""
    names = list(METHODS[kind])
    if kind == "metric":
        names += ("keep", "conclude") if getattr(thing, "whole_split", False) else ("__call__",)
    if kind != "model":
        return names
    _refuse_stubs(label, thing)
    if not hasattr(thing, "run"):  # a module as torch has them
        raise UsageError(
            f"'{label}' is a torch module but not a model: it has no 'run'. Wrap it with "
            "attnx.wrap(net, ...), or see attnx.plugin.Model."
        )
    provides = _declared(kind, thing, "provides")
    if isinstance(thing, type):
        names.append("build")
    elif "projection" in provides and not hasattr(thing, "projection"):
        raise _undeclared(label, "projection", "it has no attribute 'projection'")
    for word in ("reattend", "decode"):
        if word in provides and not _has(thing, word):
            raise _undeclared(label, word, f"it has no method '{word}'")
    return names


def _undeclared(label: str, word: str, wrong: str) -> UsageError:
    return UsageError(
        f"'{label}' provides '{word}' ({CAPABILITIES[word]}), which is a default, but {wrong}. Add it, or "
        f"declare provides = (...) without '{word}'."
    )


def _refuse_stubs(label: str, thing: Any) -> None:
    """Refuse a model whose methods of a module are the empty ones of the protocol."""
    for name in OF_MODULES:
        found = getattr(thing, name, None)
        if found is None:
            raise UsageError(f"'{label}' has no '{name}': a model must be a torch.nn.Module.")
        if getattr(found, "__module__", "").startswith(STUBS):
            raise UsageError(
                f"'{label}' inherits '{name}' from attnx.plugin.Model, where it does nothing. Put nn.Module "
                f"first: class {label}(nn.Module, attnx.plugin.Model)."
            )


def _declared(kind: Kind, thing: Any, name: str) -> Any:
    return getattr(thing, name, DEFAULTS[kind].get(name, ()))


def _has(thing: Any, name: str) -> bool:
    """Whether an object has this name, and it is not an empty method of the protocol."""
    found = inspect.getattr_static(thing, name, None)
    if found is None and name == "__call__":
        return callable(thing)
    found = getattr(thing, name, None) if not isinstance(found, property) else found
    return found is not None and not (getattr(found, "__module__", None) or "").startswith(STUBS)
