"""Units of work that any worker can carry out: the training of one seed, or the measuring of a cell.

A worker needs the same packages as its driver and nothing else. Where it shares the driver's folder it
leaves weights and runs there; elsewhere it carries the files back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..data.access import Source
from ..disk import written_aside
from ..errors import PluginError
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.keep import Keep
from ..request.plan import Plan
from ..request.resolve import resolve
from ..request.spec import RunSpec
from ..store.home import home
from ..store.identity import software_name
from ..store.weights import Weights
from .evaluation import carry_out, choose_device, followed_metrics
from .executors import compute_with_one_thread
from .loading import remembered
from .workshop import Workshop

Files = tuple[tuple[str, bytes], ...]  # paths below the folder of everything kept, and their content


@dataclass(frozen=True, slots=True)
class Setup:
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
class Unit:
    """The training of one seed of a cell, or, without a seed, the measuring of the cell."""

    cell: int
    spec: str  # as JSON
    software: str  # what the driver would compute it with
    seed: int | None
    setup: Setup
    brought: Files = ()  # what a worker elsewhere needs: trained weights


@dataclass(frozen=True, slots=True)
class Result:
    """What a unit gave: the name of the run that was measured, and files of a worker elsewhere."""

    fingerprint: str
    files: Files


def carry_out_unit(unit: Unit) -> Result:
    """Train or measure, as a worker does."""
    compute_with_one_thread()
    remembered.most = 2
    catalog = Catalog.installed(unit.setup.without)
    with _at_home(unit.setup):
        write_carried(unit.brought)
        before = set() if unit.setup.shared else set(_files(home()))
        plan = resolve(RunSpec.model_validate_json(unit.spec), catalog)
        _check_software(unit, plan)
        source = Source.configured(
            catalog.registry.datasets,
            home() / "data",
            Path(unit.setup.data_dir) if unit.setup.data_dir else None,
            Progress("off"),
        )
        fingerprint = _measure(plan, source, unit.setup.keep) if unit.seed is None else ""
        if unit.seed is not None:
            _train(plan, unit.seed, source)
        new = [] if unit.setup.shared else sorted(set(_files(home())) - before)
        return Result(fingerprint, tuple((path, (home() / path).read_bytes()) for path in new))


def _train(plan: Plan, seed: int, source: Source) -> None:
    data = remembered.load(plan, source)
    device = choose_device(plan.spec.device)
    Workshop(data, device, Weights(), Progress("off")).trained(plan, seed, followed_metrics(plan))


def _measure(plan: Plan, source: Source, keep: Keep) -> str:
    """Measure the trained models of a cell and keep the run; its name."""
    quiet = Progress("off")
    return carry_out(plan, source=source, keep=keep, progress=quiet).report.fingerprint


def _check_software(unit: Unit, plan: Plan) -> None:
    if software_name(plan) != unit.software:
        raise PluginError(
            "this worker has other versions of attnx, its plugins or its libraries than the driver: install "
            "the same packages on both"
        )


@contextmanager
def _at_home(setup: Setup) -> Iterator[None]:
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
