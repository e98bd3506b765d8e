"""Plugins that are a single file: from the folders of ATTNX_PLUGINS, and files that a user names.

Nothing is taken from the current folder unless it is named. A file is imported under a name that contains a
hash of its content, so an edited file is another module, also in a session that goes on.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from ..errors import UsageError, did_you_mean_path
from .sources import forget_sources

FOLDERS = "ATTNX_PLUGINS"
_used: list[str] = []  # absolute paths of the files that were named


@dataclass(frozen=True, slots=True)
class PluginFile:
    """A file with components, as it is now."""

    path: Path
    version: str  # the start of the hash of its content

    @property
    def name(self) -> str:
        """What the plugin is called: the name of the file without its ending."""
        return self.path.stem

    @property
    def module(self) -> str:
        """The name under which it is imported."""
        return f"attnx_file_{re.sub(r'[^A-Za-z0-9_]', '_', self.name)}_{self.version}"


def use_files(files: Iterable[str | Path]) -> None:
    """Add files to the plugins of this process; a file that is there already is not added again."""
    for file in files:
        path = Path(os.path.expanduser(file))
        if path.suffix != ".py":
            raise UsageError(f"'{file}' is not a plugin: name a Python file, such as my_metric.py.")
        if not path.is_file():
            raise UsageError(f"File '{file}' does not exist.{did_you_mean_path(str(file))}")
        place = str(path.resolve())
        if place not in _used:
            _used.append(place)


def used_files() -> tuple[str, ...]:
    """The files that were named in this process, for the processes that work for it."""
    return tuple(_used)


def forget_files(*, but: Sequence[str] = ()) -> None:
    """Forget the files that were named, except for these."""
    _used[:] = but


def plugin_files() -> list[PluginFile]:
    """All plugins that are files, each once, as they are now."""
    found = dict.fromkeys([*_in_folders(), *map(Path, _used)])
    files = [PluginFile(path, _version(path)) for path in found if path.is_file()]
    for file in files:
        _finder.add(file)
    return files


def _in_folders() -> Iterator[Path]:
    """The Python files of the folders that the variable lists, except those that begin with _ or test_."""
    for folder in filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)):
        path = Path(os.path.expanduser(folder))
        if not path.is_dir():
            raise UsageError(f"{FOLDERS} names the folder '{folder}', which does not exist.")
        for file in sorted(path.glob("*.py")):
            if not file.name.startswith(("_", ".", "test_", "conftest.")):
                yield file.resolve()


def _version(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


class _FileFinder(MetaPathFinder):
    """Finds the modules of plugins that are files, and no others."""

    def __init__(self) -> None:
        self.paths: dict[str, Path] = {}

    def add(self, file: PluginFile) -> None:
        if self not in sys.meta_path:
            sys.meta_path.append(self)
        if self.paths.get(file.module) != file.path:
            forget_sources()  # the text of the file before it was edited, or of another that was its copy
            self.paths[file.module] = file.path

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        file = self.paths.get(fullname)
        return importlib.util.spec_from_file_location(fullname, file) if file else None


_finder = _FileFinder()
