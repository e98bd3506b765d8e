"""The cards of a plugin that is a single file: one for each class that follows a protocol, from its source.

The file is not imported for this. A component is called as its class is, in lower case with hyphens: TopShare
is top-share. A class that begins with _ is not offered.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ..errors import PluginError
from .cards import Card, Kind
from .declarations import defined_classes, read_method
from .plugin_files import PluginFile
from .sources import read_source

PROTOCOLS: dict[str, Kind] = {
    "Task": "task",
    "Model": "model",
    "AttentionProjection": "projection",
    "ImportanceMethod": "importance",
    "Metric": "metric",
    "JointMetric": "metric",
    "SplitMetric": "metric",
    "Study": "study",
    "Drawing": "drawing",
}
_PLACE = (str(Path(__file__).parents[1] / "protocols"), str(Path(__file__).parents[1] / "request"))
# Where a name of several words is cut: topShare, MLPModel.
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def parse_file(file: PluginFile) -> ast.Module:
    """The syntax tree of a plugin that is a file."""
    try:
        return ast.parse(read_source(str(file.path)))
    except SyntaxError as error:
        raise PluginError(f"SyntaxError: {error.msg} ({file.path}:{error.lineno})") from error
    except (
        MemoryError,
        RecursionError,
    ) as error:  # what Python's parser raises, however much memory there is
        raise PluginError(f"'{file.path}' is nested too deeply for Python to read") from error


def has_hooks(tree: ast.Module) -> bool:
    """Whether a file announces its components itself, as a package does."""
    return any(isinstance(node, ast.FunctionDef) and node.name.startswith("attnx_") for node in tree.body)


def cards_of(file: PluginFile) -> list[tuple[Kind, Card]]:
    """One card per component class of the file."""
    try:
        classes = defined_classes(file.module)
    except RecursionError:
        raise PluginError(f"a class of '{file.path}' is its own base class") from None
    kinds = {name: _kind(bases) for name, bases in classes.items()}
    return [
        (
            kind,
            Card(component_name(name), f"{file.module}:{name}", options=_options(file, name, kind, classes)),
        )
        for name, kind in kinds.items()
        if kind is not None and not name.startswith("_")
    ]


def component_name(class_name: str) -> str:
    """What the component of a class is called: top-share for TopShare."""
    return _SEAM.sub("-", class_name).replace("_", "-").lower()


def _kind(bases: list[tuple[str, str]]) -> Kind | None:
    """The kind of a class from its base classes, each with the file that defines it."""
    return next(
        (PROTOCOLS[name] for name, file in bases if name in PROTOCOLS and file.startswith(_PLACE[0])), None
    )


def _options(file: PluginFile, name: str, kind: Kind, classes: dict[str, list[tuple[str, str]]]) -> str:
    """Where the options of a class are: the type of the last argument of what makes it."""
    made = read_method(f"{file.module}:{name}", "build" if kind == "model" else "__init__")
    annotation = made.args.args[-1].annotation if made and made.args.args else None
    wanted = str(annotation.value) if isinstance(annotation, ast.Constant) else getattr(annotation, "id", "")
    bases = classes.get(wanted, [])
    found = any(base == "Options" and place.startswith(_PLACE[1]) for base, place in bases)
    return f"{file.module}:{wanted}" if found else ""
