"""Names by content: everything that a run, or trained weights, depend on."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import torch

from ..data.access import Source
from ..errors import PluginError
from ..report.records import PluginUsed
from ..request.plan import Part, Plan
from ..request.spec import canonical_json, digest
from ..types import TaskData


def run_name(plan: Plan, source: Source, device: torch.device) -> str:
    """The name of a run."""
    dataset = plan.task.component.dataset if plan.task.component else ""
    return digest(
        plan.spec.canonical(),
        canonical_json([part.label for part in plan.parts]),  # rows of the report are called so
        _codes(plan.parts),
        canonical_json(library_versions()),
        device.type,
        canonical_json(_dataset(dataset, source) if dataset else None),
        canonical_json(_named_in_options(plan.parts, source)),
    )


def weights_name(plan: Plan, data: TaskData, seed: int, device: torch.device) -> str:
    """The name of trained weights."""
    parts = plan.trained
    return digest(
        data.fingerprint,
        canonical_json([part.choice.model_dump(mode="json") for part in parts]),
        _codes(parts),
        canonical_json(_named_in_options([plan.model], data.source or Source())),
        canonical_json(plan.spec.training),
        f"{seed}/{device.type}/{torch.__version__}",
    )


def plugins_used(parts: Sequence[Part]) -> tuple[PluginUsed, ...]:
    """The plugins behind these parts, by their exact code."""
    packages: dict[str, set[str]] = {}
    components = {}
    for part in parts:
        if part.component is not None:
            c = part.component
            components[c.plugin] = c
            packages.setdefault(c.plugin, set()).add(c.card.target.partition(":")[0].partition(".")[0])
    return tuple(
        PluginUsed(
            plugin=name,
            distribution=components[name].distribution,
            version=components[name].version,
            code="+".join(code_hash(package) for package in sorted(packages[name])),
        )
        for name in sorted(components)
    )


@cache
def library_versions() -> dict[str, str]:
    """The installed version of everything that attnx depends on."""
    found = {}
    for requirement in requires("attnx") or []:
        name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # an extra that is not installed
            continue
    return found


def _codes(parts: Sequence[Part]) -> str:
    """The code of the core and of every plugin behind these parts."""
    return canonical_json({"attnx": code_hash("attnx")} | {u.plugin: u.code for u in plugins_used(parts)})


def _dataset(name: str, source: Source) -> list[Any]:
    """What a dataset is read from: what the registry says of it, and files of the user's own."""
    known, folder = source.datasets.get(name), source.local_folder(name)
    return [known.model_dump(mode="json") if known else None, _stamps(folder) if folder else []]


def _named_in_options(parts: Sequence[Part], source: Source) -> list[Any]:
    """The files of the user's own and the datasets that options name.

    A path may be one inside the data directory. A text names something when it was chosen: a default,
    such as the name of a column, does not mean a folder that happens to be called so.
    """
    found: list[Any] = []
    for part in parts:
        for name, value in part.options:
            if isinstance(value, Path):
                places = [value] if source.directory is None else [value, source.directory / value]
                found += next(filter(None, map(_stamps, places)), [])
            elif isinstance(value, str) and value != type(part.options).model_fields[name].default:
                found += _stamps(Path(value)) if value else []
                found += _dataset(value, source) if value in source.datasets else []
    return found


def _stamps(path: Path) -> list[list[str | int]]:
    """What changes when a file, or any file of a folder, does; nothing for what cannot be looked at."""
    path = Path(os.path.expanduser(path))
    found: list[list[str | int]] = []
    for file in sorted(path.rglob("*")) if os.path.isdir(path) else [path]:
        try:
            stat = file.stat()
        except (OSError, ValueError):  # no such file, or one that may not be read, or no name for one
            continue
        if not S_ISDIR(stat.st_mode):
            found.append([str(file.resolve()), stat.st_size, stat.st_mtime_ns])
    return found


def code_hash(package: str) -> str:
    """A hash of a package's source files, found without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise PluginError(f"the source of package '{package}' cannot be found")
    hashed = hashlib.sha256()
    for place in spec.submodule_search_locations or [spec.origin or ""]:  # folders, or a single file
        folder = Path(place)
        for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            hashed.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return hashed.hexdigest()[:16]
