"""Names by content: everything that a run, or trained weights, depend on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import torch

from .resolve import Part, Plan
from .results import PluginUsed
from .sources import Source
from .spec import canonical_json, digest
from .store import code_hash
from .types import TaskData


def run_name(plan: Plan, source: Source, device: torch.device) -> str:
    """The name of a run."""
    task = plan.task.component
    dataset = source.datasets.get(task.card.dataset) if task else None
    files = [*_local_data(plan, source), *_named_in_options(plan.parts)]
    return digest(
        plan.spec.canonical(),
        canonical_json([part.label for part in plan.parts]),  # rows of the report are called so
        _codes(plan.parts),
        canonical_json(library_versions()),
        device.type,
        canonical_json(dataset.model_dump(mode="json") if dataset else None),
        canonical_json([_stamp(path) for path in files]),
    )


def weights_name(plan: Plan, data: TaskData, seed: int, device: torch.device) -> str:
    """The name of trained weights."""
    parts = (plan.task, plan.model, plan.projection)
    return digest(
        data.fingerprint,
        canonical_json([part.choice.model_dump(mode="json") for part in parts]),
        _codes(parts),
        canonical_json([_stamp(path) for path in _named_in_options([plan.model])]),
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


def _local_data(plan: Plan, source: Source) -> Iterator[Path]:
    """The files of the data directory that the task may read."""
    if source.directory is not None:
        dataset = plan.task.component.card.dataset if plan.task.component else ""
        own = source.directory / dataset
        yield from _files(own if own.is_dir() else source.directory)


def _named_in_options(parts: Sequence[Part]) -> Iterator[Path]:
    """Files of the user's own that options name."""
    for part in parts:
        for _, value in part.options:
            if isinstance(value, Path | str) and value and (path := Path(value).expanduser()).exists():
                yield from _files(path)


def _files(path: Path) -> list[Path]:
    """A file, or all files of a folder."""
    return sorted(inside for inside in path.rglob("*") if inside.is_file()) if path.is_dir() else [path]


def _stamp(path: Path) -> list[str | int]:
    """What changes when a file does."""
    stat = path.stat()
    return [str(path.resolve()), stat.st_size, stat.st_mtime_ns]
