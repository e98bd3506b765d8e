"""Jobs that any worker can carry out: train one seed of a cell, measure a shard, or measure a cell.

A worker needs the same packages as its driver and nothing else. If it shares the driver's folder, it
stores weights and runs there; otherwise it sends the files back.
"""

from __future__ import annotations

import os
import pickle
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from ...data.access import Source
from ...disk import check_writable, hidden_folder, written_aside
from ...errors import AttnxWarning, DataError, PluginError
from ...host.catalog import Catalog
from ...host.plugin_files import use_files, used_files
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
from ..computation import followed_metrics
from ..data_cache import data_cache
from ..device import choose_device
from ..evaluation import carry_out
from ..global_state import standard_state
from ..plugin_errors import errors_of
from ..training.models import TrainedModels
from .executors import one_thread
from .shards import Shard, measure_shard

# Where a sent file may be stored: below one folder of weights or of a run, and not hidden.
SENT = re.compile(r"(weights|runs)/[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*")
KEPT = 2  # datasets that a worker keeps from job to job
Files = tuple[tuple[str, bytes], ...]  # paths below ATTNX_HOME, and their content


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What is the same for all jobs of a driver."""

    home: str  # the driver's ATTNX_HOME
    mark: str  # a file in it: a worker that sees the file shares the folder
    data_dir: str | None
    without: tuple[str, ...]  # plugins that are switched off
    keep: Keep
    fresh: bool = False  # compute even if the run is stored
    files: tuple[str, ...] = field(default_factory=used_files)  # plugins that are files

    @property
    def shared(self) -> bool:
        """Whether this process sees the driver's folder."""
        return os.path.isfile(self.mark)

    @property
    def data_folder(self) -> Path | None:
        """The user's folder of data."""
        return Path(self.data_dir) if self.data_dir else None


@contextmanager
def worker_setup(
    data_dir: str | Path | None, without: tuple[str, ...], keep: Keep, fresh: bool = False
) -> Iterator[WorkerSetup]:
    """The setup of a driver's jobs, with the mark in its folder for as long as it lasts."""
    check_writable(home(), "ATTNX_HOME")
    with marked(home()) as mark:
        yield WorkerSetup(
            home=str(home().resolve()),
            mark=str(mark),
            data_dir=str(Path(data_dir).resolve()) if data_dir else None,
            without=without,
            keep=keep,
            fresh=fresh,
        )


@dataclass(frozen=True, slots=True)
class Job:
    """Train one seed of a cell, or measure a shard with it; without a seed, measure the whole cell."""

    cell: int
    spec: str  # as JSON
    software: str  # the packages that the driver has
    seed: int | None
    setup: WorkerSetup
    files: Files = ()  # what a worker elsewhere needs: trained weights
    data: bytes = b""  # the data without its test split, pickled; empty: the worker loads it
    shard: Shard | None = None


@dataclass(frozen=True, slots=True)
class JobOutput:
    """The result of a job: the name of the run that was measured, and files of a worker elsewhere."""

    fingerprint: str
    files: Files
    results: bytes = b""  # of a shard
    warnings: tuple[str, ...] = ()  # for the driver to show


def get_ready(spec: str, software: str, setup: WorkerSetup) -> None:
    """Find what a spec names, so that the first job need not."""
    with at_home(setup):
        prepared(spec, software, setup)


def run_job(job: Job) -> JobOutput:
    """Train or measure, as a worker does."""
    data_cache.most = KEPT
    with one_thread(), standard_state(), at_home(job.setup), warnings.catch_warnings(record=True) as caught:
        write_sent(tuple(file for file in job.files if not (home() / file[0]).is_file()))
        before = set() if job.setup.shared else set(_files(home()))
        plan, source, catalog = prepared(job.spec, job.software, job.setup)
        fingerprint, results = "", b""
        if job.seed is None:
            fingerprint = _measure(plan, source, job.setup, catalog)
        elif job.shard is None:
            _trained(plan, job.seed, job.data, source)
        else:
            model = _cached_model(job, plan, source)
            with errors_of(plan.model.title):
                device = choose_device(plan.spec.device)
                results = measure_shard(job.shard, model, plan, job.seed, device).to_bytes()
        new = [] if job.setup.shared else sorted(set(_files(home())) - before)
        files = tuple((path, (home() / path).read_bytes()) for path in new)
    messages = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return JobOutput(fingerprint, files, results, messages)


def receive(output: JobOutput) -> None:
    """Store the files of a worker elsewhere, and pass its warnings on."""
    write_sent(output.files)
    for message in output.warnings:
        warnings.warn(message, AttnxWarning, stacklevel=2)


def _trained(plan: Plan, seed: int, pickled: bytes, source: Source) -> Model:
    """The model of one seed, trained or found."""
    if pickled:
        data: TaskData = replace(pickle.loads(pickled), source=source)
    else:
        data = data_cache.load(plan, source)
    models = TrainedModels(data, choose_device(plan.spec.device), Weights(), Progress("off"))
    with errors_of(plan.model.title):
        return models.trained(plan, seed, followed_metrics(plan))[0]


@lru_cache(maxsize=64)  # several jobs are of one cell; another driver has another mark
def prepared(spec: str, software: str, setup: WorkerSetup) -> tuple[Plan, Source, Catalog]:
    """The plan of a spec, where data is found, and the catalog; the driver must have the same packages."""
    use_files(setup.files)
    catalog = Catalog.installed(setup.without)
    plan = resolve(RunSpec.model_validate_json(spec), catalog)
    if software_name(plan) != software:
        raise PluginError(
            "this worker has other versions of attnx, its plugins or its libraries than the driver: install "
            "the same packages on both"
        )
    return plan, source_of(setup.data_folder, catalog), catalog


def source_of(data_dir: Path | None, catalog: Catalog) -> Source:
    """Where a worker finds data, without progress."""
    return Source.configured(catalog.registry.datasets, home() / "data", data_dir, Progress("off"))


# The model that the last shard was measured with, by spec, setup and seed.
_models: dict[tuple[str, WorkerSetup, int | None], Model] = {}


def _cached_model(job: Job, plan: Plan, source: Source) -> Model:
    key = job.spec, job.setup, job.seed
    if key not in _models:
        _models.clear()
        assert job.seed is not None, "a shard belongs to one seed"
        _models[key] = _trained(plan, job.seed, job.data, source)
    return _models[key]


def _measure(plan: Plan, source: Source, setup: WorkerSetup, catalog: Catalog) -> str:
    """Measure the trained models of a cell and store the run; return its name."""
    outcome = carry_out(
        plan,
        source=source,
        keep=setup.keep,
        fresh=setup.fresh,
        progress=Progress("off"),
        catalog=catalog,
    )
    return outcome.report.fingerprint


@contextmanager
def marked(folder: Path) -> Iterator[Path]:
    """A file by which a worker sees that it shares this folder."""
    with hidden_folder(folder.resolve()) as hidden:
        mark = hidden / "shared"
        mark.touch()
        yield mark


@contextmanager
def at_home(setup: WorkerSetup) -> Iterator[None]:
    """Store everything in the driver's folder if it is shared, otherwise in the worker's own."""
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
    for kind in ("weights", "runs"):
        for place, folders, names in os.walk(folder / kind):  # folders that vanish meanwhile are skipped
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                yield (Path(place) / name).relative_to(folder).as_posix()


def write_sent(files: Files) -> None:
    """Store files that were sent from elsewhere, each folder as a whole; none outside weights and runs."""
    folders: dict[Path, list[tuple[str, bytes]]] = {}
    for path, content in files:
        if not SENT.fullmatch(path):
            raise DataError(f"A worker sent the file '{path[:200]}', which is not one of weights or runs.")
        folders.setdefault(home() / Path(path).parent, []).append((Path(path).name, content))
    for folder, contents in folders.items():
        with written_aside(folder) as aside:
            for name, content in contents:
                (aside / name).write_bytes(content)
