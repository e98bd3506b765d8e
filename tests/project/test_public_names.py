"""The public names: complete, documented, and all types that they give back among them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pydantic
import pytest

import attnx
import attnx.components
import attnx.datasets
import attnx.formulas
import attnx.plugin
import attnx.results
import attnx.runs
import attnx.testing
import attnx.types

ROOMS: list[Any] = [attnx, attnx.plugin, attnx.formulas, attnx.testing, attnx.results]
SHELVES: list[Any] = [attnx.runs, attnx.datasets, attnx.components]  # functions with the names of commands
PUBLIC = {name: getattr(room, name) for room in ROOMS for name in room.__all__}
FUNCTIONS = [
    (room, name)
    for room in [*ROOMS, *SHELVES]
    for name in room.__all__
    if inspect.isfunction(getattr(room, name))
]
RECORDS = [getattr(attnx.results, name) for name in attnx.results.__all__]
RECORDS += [
    thing for room in SHELVES for name in room.__all__ if isinstance(thing := getattr(room, name), type)
]
IDS = [f"{room.__name__}.{name}" for room, name in FUNCTIONS]


@pytest.mark.parametrize("room", [*ROOMS, *SHELVES], ids=lambda room: room.__name__)
def test_every_listed_name_exists_once_and_is_shown_by_dir(room: ModuleType) -> None:
    assert len(set(room.__all__)) == len(room.__all__)
    assert set(room.__all__) <= set(dir(room))
    for name in room.__all__:
        assert getattr(room, name) is not None
    late = getattr(room, "_MODULES", None)
    if late is not None:
        assert set(room.__all__) == {name for names in late.values() for name in names}


def test_one_name_means_one_thing() -> None:
    for room in ROOMS:
        for name in room.__all__:
            assert getattr(room, name) is PUBLIC[name], name


def test_about_25_names_are_at_the_top() -> None:
    assert 20 <= len(attnx.__all__) <= 30


@pytest.mark.parametrize(("room", "name"), FUNCTIONS, ids=IDS)
def test_a_function_documents_its_arguments_and_what_it_gives_back(room: Any, name: str) -> None:
    function = getattr(room, name)
    text = inspect.getdoc(function) or ""
    documented = _section(text, "Args")
    for parameter in inspect.signature(function).parameters.values():
        stars = r"\*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        assert re.search(rf"^    {stars}{parameter.name}: \S", documented, re.MULTILINE), parameter.name
    if function.__annotations__.get("return") not in (None, "None"):
        assert re.search(r"^(Returns|Yields):\n    \S", text, re.MULTILINE)
    if room in (attnx, *SHELVES) and name != "folders":
        assert re.search(r"^Raises:\n    \w*Error: \S", text, re.MULTILINE)


def _section(text: str, title: str) -> str:
    found = re.search(rf"^{title}:\n((?:    .*\n|\n)+)", text + "\n", re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize(
    ("room", "name"), [(room, name) for room, name in FUNCTIONS if room in (attnx, *SHELVES)]
)
def test_the_type_that_a_function_gives_back_is_public(room: Any, name: str) -> None:
    annotation = ast.parse(getattr(room, name).__annotations__["return"])
    named = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
    assert named <= {*PUBLIC, *room.__all__, "Path", "dict", "str", "tuple", "type"}
    assert "Any" not in named


KNOWN = {id(thing) for thing in [*PUBLIC.values(), *RECORDS]}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_type_inside_a_result_is_public(record: type) -> None:
    for name, annotation in _fields(record).items():
        for inner in _classes(annotation):
            ours = inner.__module__.partition(".")[0] == "attnx"
            assert not ours or id(inner) in KNOWN, f"{record.__name__}.{name} holds {inner.__name__}"


def _fields(record: type) -> dict[str, Any]:
    if issubclass(record, pydantic.BaseModel):
        return {name: field.annotation for name, field in record.model_fields.items()}
    if not is_dataclass(record):
        return {}
    names = {**vars(attnx.types), **vars(import_module(record.__module__))}
    hints = get_type_hints(record, names)
    internal = {"plan", "catalog", "source", "progress", "objects"}  # of a run: what makes its model again
    return {name: hint for name, hint in hints.items() if name not in internal and not name.startswith("_")}


def _classes(annotation: Any) -> Iterator[type]:
    if isinstance(annotation, type):
        yield annotation
    for inner in get_args(annotation):
        yield from _classes(inner)
