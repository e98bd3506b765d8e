"""Units of work that any worker can carry out: the training of one seed, a shard or a cell to measure.

A worker needs the same packages as its driver and nothing else. Where it shares the driver's folder it
leaves weights and runs there; elsewhere it carries the files back.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ...data.access import Source
from ...disk import hidden_folder, written_aside
from ...errors import PluginError
from ...host.catalog import Catalog
from ...progress import Progress
from ...protocols import Model
from ...request.keep_levels import Keep
from ...request.plan import Plan
from ...request.resolve import resolve
from ...request.spec import RunSpec
from ...store.home import home
from ...store.identity import software_name
from ...store.weights import Weights
from ...types import TaskData
from ..data_cache import data_cache
from ..device import choose_device
from ..evaluation import carry_out, followed_metrics
from ..global_state import standard_state
from ..plugin_errors import errors_of
from ..training.models import TrainedModels
from .executors import compute_with_one_thread
from .shards import Shard, measure_shard

Files = tuple[tuple[str, bytes], ...]  # paths below the folder of everything kept, and their content


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What a driver and its workers agree on."""

    home: str  # the driver's folder of everything kept
    mark: str  # a file in it: who sees it shares the folder
    data_dir: str | None
    without: tuple[str, ...]  # plugins that are switched off
    keep: Keep

    @property
    def shared(self) -> bool:
        return os.path.isfile(self.mark)


@dataclass(frozen=True, slots=True)
class Job:
    """The training of one seed of a cell, or a shard of its measuring; without a seed all the measuring."""

    cell: int
    spec: str  # as JSON
    software: str  # what the driver would compute it with
    seed: int | None
    setup: WorkerSetup
    brought: Files = ()  # what a worker elsewhere needs: trained weights
    data: bytes = b""  # the data without its test split, pickled; a worker loads it where none is brought
    shard: Shard | None = None


@dataclass(frozen=True, slots=True)
class JobOutput:
    """What a unit gave: the name of the run that was measured, and files of a worker elsewhere."""

    fingerprint: str
    files: Files
    seen: bytes = b""  # of a shard


def run_job(unit: Job) -> JobOutput:
    """Train or measure, as a worker does."""
    compute_with_one_thread()
    data_cache.most = 2
    with standard_state(), at_home(unit.setup):
        write_carried(tuple(one for one in unit.brought if not (home() / one[0]).is_file()))
        before = set() if unit.setup.shared else set(_files(home()))
        plan, source, catalog = prepared(unit.spec, unit.software, unit.setup)
        fingerprint, seen = "", b""
        if unit.seed is None:
            fingerprint = _measure(plan, source, unit.setup.keep, catalog)
        elif unit.shard is None:
            _trained(plan, unit.seed, unit.data, source)
        else:
            model = _cached_model(unit, plan, source)
            with errors_of(plan.model.title):
                device = choose_device(plan.spec.device)
                seen = measure_shard(unit.shard, model, plan, unit.seed, device).to_bytes()
        new = [] if unit.setup.shared else sorted(set(_files(home())) - before)
        return JobOutput(fingerprint, tuple((path, (home() / path).read_bytes()) for path in new), seen)


def _trained(plan: Plan, seed: int, brought: bytes, source: Source) -> Model:
    """The model of one seed, trained or found."""
    if brought:
        data: TaskData = replace(pickle.loads(brought), source=source)
    else:
        data = data_cache.load(plan, source)
    models = TrainedModels(data, choose_device(plan.spec.device), Weights(), Progress("off"))
    with errors_of(plan.model.title):
        return models.trained(plan, seed, followed_metrics(plan))[0]


@lru_cache(maxsize=64)  # a cell is trained and measured, by shards maybe; another driver has another mark
def prepared(spec: str, software: str, setup: WorkerSetup) -> tuple[Plan, Source, Catalog]:
    """What is asked, if this worker has the packages of the driver, and where data is found."""
    catalog = Catalog.installed(setup.without)
    plan = resolve(RunSpec.model_validate_json(spec), catalog)
    if software_name(plan) != software:
        raise PluginError(
            "this worker has other versions of attnx, its plugins or its libraries than the driver: install "
            "the same packages on both"
        )
    return plan, source_of(setup, catalog), catalog


def source_of(setup: WorkerSetup, catalog: Catalog) -> Source:
    """Where data is found, told to nobody."""
    directory = Path(setup.data_dir) if setup.data_dir else None
    return Source.configured(catalog.registry.datasets, home() / "data", directory, Progress("off"))


_models: dict[
    tuple[str, WorkerSetup, int | None], Model
] = {}  # the one that the last shard was measured with


def _cached_model(unit: Job, plan: Plan, source: Source) -> Model:
    key = unit.spec, unit.setup, unit.seed
    if key not in _models:
        _models.clear()
        assert unit.seed is not None, "a shard is of one seed"
        _models[key] = _trained(plan, unit.seed, unit.data, source)
    return _models[key]


def _measure(plan: Plan, source: Source, keep: Keep, catalog: Catalog) -> str:
    """Measure the trained models of a cell and keep the run; its name."""
    quiet = Progress("off")
    return carry_out(plan, source=source, keep=keep, progress=quiet, catalog=catalog).report.fingerprint


@contextmanager
def marked(folder: Path) -> Iterator[Path]:
    """A file by which a worker sees that it shares this folder."""
    with hidden_folder(folder.resolve()) as hidden:
        mark = hidden / "shared"
        mark.touch()
        yield mark


@contextmanager
def at_home(setup: WorkerSetup) -> Iterator[None]:
    """Keep things in the driver's folder where it is shared, else in the worker's own."""
    if not setup.shared:
        yield
        return
    before = os.environ.get("ATTNX_HOME")
    os.environ["ATTNX_HOME"] = setup.home
    try:
        yield
    finally:
        if before is None:
            del os.environ["ATTNX_HOME"]
        else:
            os.environ["ATTNX_HOME"] = before


def _files(folder: Path) -> Iterator[str]:
    """The files of weights and runs, by their paths below the folder."""
    for room in ("weights", "runs"):
        for path in (folder / room).rglob("*"):
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
                yield path.relative_to(folder).as_posix()


def write_carried(files: Files) -> None:
    """Keep files that came from elsewhere, each folder whole."""
    folders: dict[Path, list[tuple[str, bytes]]] = {}
    for path, content in files:
        folders.setdefault(home() / Path(path).parent, []).append((Path(path).name, content))
    for folder, content_of in folders.items():
        with written_aside(folder) as aside:
            for name, content in content_of:
                (aside / name).write_bytes(content)
