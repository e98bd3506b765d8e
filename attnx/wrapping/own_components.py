"""Components that no plugin announces: found in a file or module, and checked as what they are."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from ..errors import UsageError, did_you_mean, did_you_mean_path
from ..host.cards import CAPABILITIES, Kind
from ..request.objects import METHODS, complete
from ..request.spec import Options, validate_options
from ..run.plugin_errors import errors_of
from ..testing.check_report import Capability, ComponentCheck, LawResult
from ..testing.checking import cases_law, law_results
from ..testing.model_laws import ModelOnTask
from ..testing.toy import ToySoftmax, toy_data
from .module import WrappedModel

# Kinds of component that are a single call differ only in how many arguments it takes.
ARGUMENTS: dict[int, Kind] = {1: "study", 2: "projection", 4: "importance"}


def check_object(thing: Any, name: str = "") -> ComponentCheck:
    """Check an object or a class: which kind of component it is, what it can do, which laws it keeps."""
    name = name or (thing.__name__ if inspect.isclass(thing) else type(thing).__name__)
    kind = kind_of(thing)
    if kind is None:
        raise UsageError(
            f"'{name}' is not a component. Wrap a module with attnx.wrap, or follow one of the protocols, "
            "e.g. attnx.plugin.Model."
        )
    if _is_wrapped(thing):
        able = {**dict.fromkeys(thing.provides, ""), **thing.cannot}
        words = [word for word in CAPABILITIES if word in able]
        capabilities = tuple(Capability(name, word, able[word]) for word in words)
        return ComponentCheck(name, kind, capabilities=capabilities, provides=tuple(thing.provides))
    completed = complete(kind, _made(kind, name, thing))
    judged = ModelOnTask(completed.eval(), toy_data()) if kind == "model" else completed
    provides = tuple(completed.provides) if kind == "model" else ()
    laws = [*law_results(kind, judged, name)]
    if kind == "metric" and isinstance(thing, type):
        laws += cases_law(name, inspect.getfile(thing), lambda options: _made(kind, name, thing, options))
    if not laws:
        laws = [LawResult(name, "laws", unchecked=f"there are no conformance tests of a {kind}")]
    return ComponentCheck(name, kind, tuple(laws), provides=provides)


def check_place(place: str) -> Iterator[ComponentCheck]:
    """Check what stands at module:name or file.py:name, or all components of file.py."""
    where, name = (place, "") if place.endswith(".py") else place.rsplit(":", 1)
    if name:
        yield check_object(object_at(place), name)
        return
    module = _imported(where)
    found = {key: value for key, value in vars(module).items() if _stands_here(value, module)}
    if not found:
        raise UsageError(f"There is no component in {where}. Name an object of it, e.g. {where}:model.")
    for key, value in found.items():
        yield check_object(value, key)


def object_at(place: str) -> Any:
    """The object that stands at module:name or file.py:name."""
    where, name = place.rsplit(":", 1)
    if where.endswith(".py") and not Path(where).is_file():
        raise UsageError(f"There is no file '{where}'.{did_you_mean_path(where)}")
    module = _imported(where)
    if not hasattr(module, name):
        near = did_you_mean(name, [key for key in vars(module) if not key.startswith("_")])
        raise UsageError(f"There is no '{name}' in {where}.{near}")
    return getattr(module, name)


def kind_of(thing: Any) -> Kind | None:
    """Which kind of component an object or class is, by its methods; None if it is none."""
    for kind, methods in METHODS.items():
        if methods != ("__call__",) and all(hasattr(thing, method) for method in methods):
            return kind
    call = getattr(thing, "__call__", None) if inspect.isclass(thing) else thing  # noqa: B004 - of its own
    if not callable(call) or (inspect.isclass(thing) and not inspect.isfunction(call)):
        return None
    given = inspect.signature(call).parameters.values()
    taken = [p.name for p in given if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
    return ARGUMENTS.get(len(taken))


def _made(kind: Kind, name: str, thing: Any, given: Mapping[str, Any] | None = None) -> Any:
    """The object itself, or one of its class, made with these options or the usual ones."""
    if not isinstance(thing, type):
        return thing
    taken = _options_of(kind, thing)
    if kind != "model" and taken is None and _required_arguments(thing):
        raise UsageError(f"'{name}' is a class that takes options: pass an instance instead.")
    try:
        options = validate_options(taken or Options, dict(given or {}), f"{kind} '{name}'")
    except UsageError as error:
        raise UsageError(f"{error} Pass an instance instead.") from error
    with errors_of(f"{kind} '{name}'"):
        if kind == "model":
            build: Any = getattr(thing, "build", None)
            return build(toy_data(), ToySoftmax(), options)
        return thing() if taken is None else thing(options)


def _options_of(kind: Kind, thing: type) -> type[Options] | None:
    """The class of options that a component takes, by the type of the argument; None if it takes none."""
    maker = getattr(thing, "build" if kind == "model" else "__init__", None)
    try:
        hints = get_type_hints(maker) if inspect.isroutine(maker) else {}
    except NameError:  # a type that is imported for type checking only
        return None
    found = [hint for hint in hints.values() if inspect.isclass(hint) and issubclass(hint, Options)]
    return found[0] if len(found) == 1 else None


def _required_arguments(thing: type) -> list[str]:
    """The arguments without which a class cannot be made.

    A class that follows a protocol and has no `__init__` of its own shows `*args, **kwargs`: it takes none.
    """
    taken = inspect.signature(thing).parameters.values()
    any_number = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in taken if p.default is p.empty and p.kind not in any_number]


def _is_wrapped(thing: Any) -> bool:
    """Whether `attnx.wrap` made it."""
    made = inspect.isclass(thing) and issubclass(thing, WrappedModel) and thing is not WrappedModel
    return made or isinstance(thing, WrappedModel)


def _stands_here(value: Any, module: ModuleType) -> bool:
    """Whether a component is a module's own, neither imported nor a function, which may be for anything."""
    if _is_wrapped(value):
        return True
    own = value if inspect.isclass(value) else type(value)
    return not inspect.isfunction(value) and own.__module__ == module.__name__ and kind_of(value) is not None


def _imported(where: str) -> ModuleType:
    """Import a module by its name or file."""
    if not where.endswith(".py"):
        sys.path.insert(0, "")  # as `python -m` finds what stands in this folder
        try:
            if importlib.util.find_spec(where) is None:
                raise UsageError(f"There is no module '{where}' to check, and no component of that name.")
            with errors_of(f"module {where}"):
                return importlib.import_module(where)
        except ModuleNotFoundError as error:  # the package it would stand in
            raise UsageError(f"There is no module '{where}' to check: {error}.") from error
        finally:
            sys.path.remove("")
    path = Path(where)
    if (path.parent / "__init__.py").is_file():  # a module of a package, which may import its siblings
        return _imported_from_package(path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None  # it ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # what classes look themselves up in
    with errors_of(f"file {where}"):
        spec.loader.exec_module(module)
    return module


def _imported_from_package(path: Path) -> ModuleType:
    """Import a file as a module of the package that it stands in, installed or not."""
    names, folder = [path.stem], path.resolve().parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    try:
        with errors_of(f"file {path}"):
            return importlib.import_module(".".join(names).removesuffix(".__init__"))
    finally:
        sys.path.remove(str(folder))
