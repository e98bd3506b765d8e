"""Workers that share the work of one run: they train its seeds, and measure its test split in shards."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ...disk import check_writable, write_file
from ...errors import MachineError
from ...host.catalog import Catalog
from ...progress import Progress, Step
from ...protocols import Model
from ...request.plan import Plan
from ...request.resolve import resolve
from ...request.spec import RunSpec, digest
from ...store.home import home
from ...store.identity import software_name
from ...types import TaskData
from ..evaluation import Outcome, carry_out
from ..measuring.measurement import Measurer, Wanted
from ..measuring.partial_results import PartialResults
from ..measuring.splits import Split
from ..training.models import TrainedModels
from .executors import FinishedJob, OpenWorkers, Workers, one_thread, run_jobs
from .jobs import Files, Job, WorkerSetup, marked, run_job, source_of, write_carried
from .shards import Shard, cut

LIGHT = 2**25  # bytes of data that are brought to a worker rather than loaded by it
FORGOTTEN = 30 * 24 * 3600  # seconds after which shards of a run that was never finished are deleted


@dataclass(frozen=True)
class RunWorkers:
    """Workers, and what they are told of a run."""

    workers: OpenWorkers
    setup: WorkerSetup
    asked: RunSpec
    shards: int | None = None  # of a split; None: by its size

    def train(self, plan: Plan, models: TrainedModels) -> None:
        """Have the seeds trained that are not: their weights are kept, here too."""
        missing = [s for s in plan.spec.seeds if models.weights.find(models.name(plan, s)) is None]
        if not missing:
            return
        told = self._unit(plan, models.data)
        with models.progress.stage("training", len(missing)) as step:
            for done in self._carried_out([replace(told, seed=seed) for seed in missing]):
                write_carried(done.result.files)
                step(1)

    def measurer(self, plan: Plan, models: TrainedModels, seed: int, run: str) -> Measurer:
        """Who measures the model of one seed; what they find is kept at once, under the name of the run."""
        weights = models.name(plan, seed)
        told = replace(self._unit(plan, models.data), seed=seed, brought=self._brought(weights))
        kept = StoredShards(run, digest(str(seed), weights))

        def measured(_: Model, split: Split, wanted: Wanted, step: Step) -> PartialResults:
            found: dict[str, PartialResults] = {}
            missing: list[Shard] = []
            names: dict[Shard, str] = {shard: shard.name for shard in cut(split, wanted, self.shards)}
            for shard, name in names.items():
                before = kept.find(name)
                if before is None:
                    missing.append(shard)
                else:
                    found[name] = before
                    step(len(shard))
            for done in self._carried_out([replace(told, shard=shard) for shard in missing]):
                looked_at = done.unit.shard
                assert looked_at is not None, "it was sent"
                found[names[looked_at]] = PartialResults.from_bytes(done.result.seen)
                kept.keep(names[looked_at], done.result.seen)
                step(len(looked_at))
            return PartialResults.chained([found[name] for name in names.values()])

        return measured

    def forget(self, run: str) -> None:
        """Delete the shards of a run, which is kept whole by now or is wanted anew; and very old ones."""
        shutil.rmtree(_shards_of(run), ignore_errors=True)
        for folder in (home() / "shards").glob("*"):
            with suppress(OSError):
                if time.time() - folder.stat().st_mtime > FORGOTTEN:
                    shutil.rmtree(folder, ignore_errors=True)

    def _unit(self, plan: Plan, data: TaskData) -> Job:
        content = b""
        if data.features is None:  # else as large as the examples
            content = pickle.dumps(replace(data, test=(), source=None))
        return Job(
            cell=0,
            spec=self.asked.model_dump_json(),
            software=software_name(plan),
            seed=None,
            setup=self.setup,
            data=content if len(content) <= LIGHT else b"",
        )

    def _brought(self, weights: str) -> Files:
        """Trained weights for workers that may be elsewhere."""
        path = Path("weights") / weights / "weights.safetensors"
        if self.workers.workers.kind == "local" or not os.path.isfile(home() / path):
            return ()
        return ((path.as_posix(), (home() / path).read_bytes()),)

    def _carried_out(self, units: Sequence[Job]) -> Iterator[FinishedJob[Job]]:
        """Every unit as it ends; the first error ends all of it."""
        for done in run_jobs(self.workers, run_job, units, lambda _: ()):
            if isinstance(done.error, BrokenExecutor):
                raise MachineError(
                    "A worker process died again and again at the same work; the machine may have ended it "
                    "for its memory: take fewer --workers, or fewer examples (--limit)."
                ) from done.error
            if done.error is not None:
                raise done.error
            yield done


def measure_together(asked: RunSpec, catalog: Catalog, workers: OpenWorkers, setup: WorkerSetup) -> Outcome:
    """One cell of a sweep, measured by all its workers."""
    with one_thread():
        return carry_out(
            resolve(asked, catalog),
            source=source_of(setup, catalog),
            keep=setup.keep,
            progress=Progress("off"),
            run_workers=RunWorkers(workers, setup, asked),
            catalog=catalog,
        )


@contextmanager
def run_workers_for(
    workers: Workers | None,
    asked: RunSpec,
    *,
    data_dir: str | Path | None = None,
    without: tuple[str, ...] = (),
    shards: int | None = None,
) -> Iterator[RunWorkers | None]:
    """Workers for one run, or none. The driver computes with one thread as they do: the run is the same."""
    if workers is None:
        yield None
        return
    check_writable(home(), "ATTNX_HOME")
    with one_thread(), marked(home()) as mark, ExitStack() as stack:
        setup = WorkerSetup(
            home=str(home().resolve()),
            mark=str(mark),
            data_dir=str(Path(data_dir).resolve()) if data_dir else None,
            without=without,
            keep="none",  # of a shard everything comes back
        )
        yield RunWorkers(OpenWorkers(workers, stack), setup, asked, shards)


class StoredShards:
    """What was found in the shards of a run that is not finished yet."""

    def __init__(self, run: str, of: str) -> None:
        self.folder, self.of = _shards_of(run), of

    def find(self, name: str) -> PartialResults | None:
        """What was found in a shard; None where nothing is kept, or nothing that can be used."""
        try:
            return PartialResults.from_bytes(self._path(name).read_bytes())
        except (OSError, ValueError):
            return None

    def keep(self, name: str, content: bytes) -> None:
        """Write it, if there is room; without, the run goes on."""
        try:
            write_file(self._path(name), content)
        except OSError as error:
            reason = error.strerror or error
            print(f"warning: a shard is not kept in '{self.folder}' ({reason}): going on", file=sys.stderr)

    def _path(self, name: str) -> Path:
        return self.folder / f"{digest(self.of, name)}.safetensors"


def _shards_of(run: str) -> Path:
    return home() / "shards" / run
