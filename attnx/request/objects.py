"""Parts that are the caller's own objects: any object of the right shape will do.

What an object does not declare has the default of its protocol; what it cannot do without is one
line. An object's code is imported already, so that looking at it costs nothing.
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
# The defaults of the protocols' declarations (which a test holds equal to these).
DEFAULTS: Final[dict[Kind, dict[str, Any]]] = {
    "task": {"needs": (), "provides": (), "dataset": ""},
    "model": {
        "needs": (),
        "provides": ("attention", "reattend", "projection", "gradient", "hidden", "decode"),
    },
    "projection": {"trains_by_expectation": False},
    "importance": {"needs": (), "passes": 0, "check": lambda examples: None},  # noqa: ARG005
    "study": {"needs": ()},
    "drawing": {"needs": (), "examples": 400},
    "metric": {
        "needs": (),
        "sees": "units",
        "passes": 0,
        "reads_explanation": True,
        "whole_split": False,
        "follows_training": False,
        "axis": None,
    },
}
METHODS: Final[dict[Kind, tuple[str, ...]]] = {
    "task": ("load",),
    "model": ("encode", "embed", "run"),
    "projection": ("__call__",),
    "importance": ("__call__",),
    "study": ("__call__",),
    "drawing": ("look", "draw"),
    "metric": ("family", "measures"),
}
OF_MODULES: Final = ("parameters", "state_dict", "load_state_dict", "train", "eval", "to")
STUBS: Final = "attnx.protocols"  # where methods stand that a subclass of a protocol must write


@dataclass(frozen=True)
class Given:
    """An object of the caller's own in place of a name, with options for what is made of a class."""

    thing: Any
    options: Options | None = None


Objects = Mapping[tuple[Kind, str], Given]


def given_part(kind: Kind, label: str, thing: Any, options: Options | None = None) -> Part:
    """A part made of the caller's own object, or of his class, which is made here unless it is a model's."""
    if isinstance(thing, type) and kind != "model":
        thing = _made(kind, label, thing, options)
    for name in _required(kind, label, thing):
        if not _has(thing, name):
            whole = kind == "metric" and getattr(thing, "whole_split", False)
            protocol = "SplitMetric" if whole else PROTOCOLS[kind]
            raise UsageError(f"'{label}' is not a {kind}: it has no '{name}'. See attnx.{protocol}.")
    completed = complete(kind, thing)
    also = options or Options()
    needs, provides = (tuple(_declared(kind, thing, word)) for word in ("needs", "provides"))
    return Part(
        kind, label, also, (*needs, *also.also_needs), (*provides, *also.also_provides), None, completed
    )


def complete(kind: Kind, thing: Any) -> Any:
    """The object with the defaults of what it does not declare; a model's class stays as it is."""
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
        if name == "_thing":  # a copy in the making has none yet
            raise AttributeError(name)
        return getattr(self._thing, name)

    def __call__(self, *arguments: Any) -> Any:
        return self._thing(*arguments)


def _made(kind: Kind, label: str, thing: type, options: Options | None) -> Any:
    try:
        return thing(options) if options is not None else thing()
    except TypeError as error:
        raise UsageError(f"The {kind} '{label}' cannot be made of its class: {error}.") from error


def _required(kind: Kind, label: str, thing: Any) -> list[str]:
    """The names that an object must have, by what it declares."""
    names = list(METHODS[kind])
    if kind == "metric":
        names += ("keep", "conclude") if getattr(thing, "whole_split", False) else ("__call__",)
    if kind != "model":
        return names
    _refuse_stubs(label, thing)
    if not hasattr(thing, "run"):  # a module as torch has them
        raise UsageError(
            f"'{label}' is a module and not yet a model, it has no 'run': wrap it, as attnx.wrap(net, ...), "
            "or see attnx.plugin.Model."
        )
    provides = _declared(kind, thing, "provides")
    if isinstance(thing, type):
        names.append("build")
    elif "projection" in provides and not hasattr(thing, "projection"):
        raise _undeclared(label, "projection", "has none: give it an attribute 'projection'")
    for word in ("reattend", "decode"):
        if word in provides and not _has(thing, word):
            raise _undeclared(label, word, f"has no method '{word}'")
    return names


def _undeclared(label: str, word: str, wrong: str) -> UsageError:
    return UsageError(
        f"'{label}' provides '{word}' ({CAPABILITIES[word]}), as models do that do not say, and {wrong}, or "
        f"declare provides = (...) without '{word}'."
    )


def _refuse_stubs(label: str, thing: Any) -> None:
    """A model is a module, whose methods must come before those that the protocol only names."""
    for name in OF_MODULES:
        found = getattr(thing, name, None)
        if found is None:
            raise UsageError(f"'{label}' is not a model: it must be a torch.nn.Module and has no '{name}'.")
        if getattr(found, "__module__", "").startswith(STUBS):
            raise UsageError(
                f"'{label}' takes '{name}' from attnx.plugin.Model, where it does nothing: put nn.Module "
                f"first, as class {label}(nn.Module, attnx.plugin.Model)."
            )


def _declared(kind: Kind, thing: Any, name: str) -> Any:
    return getattr(thing, name, DEFAULTS[kind].get(name, ()))


def _has(thing: Any, name: str) -> bool:
    """Whether there is such a thing, and it is not just the protocol's word for it."""
    found = inspect.getattr_static(thing, name, None)
    if found is None and name == "__call__":
        return callable(thing)
    found = getattr(thing, name, None) if not isinstance(found, property) else found
    return found is not None and not getattr(found, "__module__", "").startswith(STUBS)
