"""Names by content: everything that a run, or trained weights, depend on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from stat import S_ISREG
from typing import Any

import torch

from ..data.access import Source
from ..data.downloads import sha256_of
from ..request.plan import Part, Plan
from ..request.spec import canonical_json, digest
from ..results.provenance import PluginUsed
from ..types import TaskData
from .dependencies import library_versions, modules_behind, source_files

# Where the core's part in training lies. Other rooms find, report, keep and print.
TRAINING_ROOMS = ("run", "formulas", "types", "protocols")

# Which instructions the libraries under torch use. ATEN_CPU_CAPABILITY shows in what torch itself reports.
INSTRUCTION_VARIABLES = ("DNNL_MAX_CPU_ISA", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA")


def run_name(plan: Plan, source: Source, device: torch.device) -> str:
    """The name of a run."""
    read = [part.component.dataset for part in plan.task.with_inner if part.component]
    datasets = [_dataset(name, source) for name in read if name]
    return digest(
        plan.spec.canonical(),
        canonical_json([*(part.label for part in plan.parts), plan.own, plan.chance]),  # as rows are called
        _codes(plan.parts),
        canonical_json(library_versions(_modules(plan.parts))),
        _machine(device),
        canonical_json(datasets),
        canonical_json(_named_in_options(plan.parts, source)),
        canonical_json(dict(plan.inversions)),  # what the audit says decides which rows do
    )


def software_name(plan: Plan) -> str:
    """What the results of a plan depend on in addition to the request and the data: code and libraries."""
    return digest(_codes(plan.parts), canonical_json(library_versions(_modules(plan.parts))))


def weights_name(plan: Plan, data: TaskData, seed: int, device: torch.device) -> str:
    """The name of trained weights: what training saw and what it was done with, nothing of the test split.

    The task is not part of it, only the data that it gives to training.
    """
    parts = [part for part in plan.trained if part is not plan.task]
    return digest(
        data.training_fingerprint,
        canonical_json([part.choice.model_dump(mode="json") for part in parts]),
        training_code(),
        canonical_json({used.plugin: used.code for used in plugins_used(parts)}),
        canonical_json(library_versions(_modules(parts))),
        canonical_json(_named_in_options([plan.model], data.source or Source())),
        canonical_json(plan.spec.training),
        f"{seed}/{_machine(device)}",
    )


def scores_name(plan: Plan, method: Part, source: Source, device: torch.device) -> str:
    """What the scores of an importance method depend on in addition to weights, examples and seed."""
    parts = [part for part in (plan.model, plan.projection, method) if part is not None]
    return digest(
        canonical_json([part.choice.model_dump(mode="json") for part in parts]),
        _codes(parts),
        canonical_json(library_versions(_modules(parts))),
        canonical_json(_named_in_options([plan.model, method], source)),
        _machine(device),
    )


def states_name(model: type, settings: str, device: torch.device) -> str:
    """What the hidden states of a frozen model depend on in addition to its weights and what it reads."""
    package = model.__module__.partition(".")[0]
    return digest(
        f"{model.__module__}.{model.__qualname__}",
        settings,
        canonical_json({"attnx": _core_code(), package: code_hash(package)}),
        canonical_json(library_versions([model.__module__])),
        _machine(device),
    )


def processor_settings() -> dict[str, str]:
    """What sums on the CPU are rounded by: the instructions torch uses, and what the user chose.

    The default dtype is not among them: a run sets it.
    """
    chosen = {name: os.environ[name] for name in INSTRUCTION_VARIABLES if os.environ.get(name)}
    flags = {
        "mkldnn": "" if torch.backends.mkldnn.enabled else "off",
        "deterministic algorithms": "on" if torch.are_deterministic_algorithms_enabled() else "",
        "matmul precision": torch.get_float32_matmul_precision().replace("highest", ""),
    }
    return {
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": str(torch.get_num_threads()),
        **chosen,
        **{name: value for name, value in flags.items() if value},
    }


def _machine(device: torch.device) -> str:
    """The kind of device and what the processor computes with: others round sums in another order."""
    return canonical_json([device.type, processor_settings()])


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


def _codes(parts: Sequence[Part]) -> str:
    """The code of the core and of every plugin behind these parts."""
    return canonical_json({"attnx": _core_code()} | {u.plugin: u.code for u in plugins_used(parts)})


@cache
def _core_code() -> str:
    """The code of the core, which this process has imported: what is edited meanwhile does not run."""
    return code_hash("attnx")


def _dataset(name: str, source: Source) -> list[Any]:
    """What a dataset is read from: its entry in the registry, and files of the user."""
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


def _stamps(path: Path) -> list[list[str]]:
    """What a file, or every file of a folder, holds; nothing for what cannot be looked at."""
    path = Path(os.path.expanduser(path))
    found: list[list[str]] = []
    for file in sorted(path.rglob("*")) if os.path.isdir(path) else [path]:
        try:
            stat = file.stat()
            if S_ISREG(stat.st_mode):
                place = file.resolve()
                found.append([str(place), _content(place, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)])
        except (OSError, ValueError):  # no such file, or one that may not be read, or no name for one
            continue
    return found


@cache
def _content(file: Path, *_: int) -> str:
    """The hash of a file, computed again when its stamps say that it may have changed.

    A size and a time of writing can be kept by whoever edits a file; the time of its last change of
    any kind is the system's own.
    """
    return sha256_of(file)


def code_hash(package: str) -> str:
    """A hash of a package's source files, found without importing it."""
    return _hash_of(source_files(package))


def _hash_of(files: Mapping[str, Path]) -> str:
    hashed = hashlib.sha256()
    for name, file in sorted(files.items()):
        hashed.update(name.encode() + file.read_bytes())
    return hashed.hexdigest()[:16]


@cache
def training_code() -> str:
    """A hash of the core's own part in training: what that imports of these rooms, and no other code."""
    return _hash_of(modules_behind(("attnx.run.training.loop", "attnx.run.training.models"), TRAINING_ROOMS))


def _modules(parts: Sequence[Part]) -> list[str]:
    return [part.component.card.target.partition(":")[0] for part in parts if part.component is not None]
