"""`attnx.components.new`: a package for a component of your own that passes its tests at once."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from string import Template
from typing import Final

from ...disk import written_aside
from ...errors import UsageError, did_you_mean
from ...host.cards import Kind
from ...views.components import PLURALS
from ..setup import installed_here

# What a user asks for, and the kind of component that it is.
KINDS: Final[dict[str, Kind]] = {
    "metric": "metric",
    "method": "importance",
    "task": "task",
    "model": "model",
    "projection": "projection",
    "study": "study",
}
_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def new(kind: str, name: str, *, into: str | Path | None = None) -> Path:
    """Write a package with a component of your own: an example to edit, with options, tests and a README.

    The package passes `attnx check` and its own tests as it is.

    Args:
        kind: "metric", "method", "task", "model", "projection" or "study".
        name: what the component is called: lower-case words with hyphens, such as top-share.
        into: the folder of the package; by default attnx-NAME in the current folder. It must not exist, or
            be empty.

    Returns:
        The folder.

    Raises:
        UsageError: there is no such kind, the name is not valid or taken, or the folder has files.
    """
    _check_name(kind, name)
    folder = Path(into) if into else Path(f"attnx-{name}")
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UsageError(f"'{folder}' exists and is not empty. Choose another folder with --into.")
    words = {
        "name": name,
        "module": name.replace("-", "_"),
        "package": f"attnx_{name.replace('-', '_')}",
        "title": "".join(part.capitalize() for part in name.split("-")),
        "kind": kind,
        "hook": f"attnx_{next(plural for plural, of in PLURALS.items() if of == KINDS[kind])}",
    }
    with written_aside(folder.absolute()) as aside:
        for where, template in _files(kind, words["package"], words["module"]).items():
            path = aside / where
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (_TEMPLATES / template).read_text(encoding="utf-8")
            path.write_text(Template(text).substitute(words), encoding="utf-8")
    return folder


def _files(kind: str, package: str, module: str) -> dict[str, str]:
    """Every file of the package, and the template it is made from."""
    files = {
        "pyproject.toml": "pyproject.toml.txt",
        "README.md": "README.md.txt",
        f"{package}/__init__.py": "init.py.txt",
        f"{package}/options.py": f"{kind}/options.py.txt",
        f"{package}/{module}.py": f"{kind}/component.py.txt",
        f"tests/test_{module}.py": f"{kind}/test.py.txt",
    }
    return files | ({f"{package}/{module}.yaml": "metric/cases.yaml.txt"} if kind == "metric" else {})


def _check_name(kind: str, name: str) -> None:
    if kind not in KINDS:
        raise UsageError(f"Unknown kind '{kind}'.{did_you_mean(kind, KINDS)} Kinds: {', '.join(KINDS)}.")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' is not a valid name: use lower-case letters, digits and hyphens, such as top-share."
        )
    if keyword.iskeyword(name) or name in ("options", "attnx"):
        raise UsageError(f"The name '{name}' cannot be used for a module. Choose another, such as my-{name}.")
    for claim in installed_here().components.get((KINDS[kind], name), ()):
        raise UsageError(
            f"The {kind} '{name}' exists already, in plugin {claim.provider}. Choose another name."
        )
