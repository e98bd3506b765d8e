"""One run on several workers: they train its seeds, and measure its test split in shards."""

from __future__ import annotations

import os
import pickle
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ...disk import write_file
from ...errors import AttnxWarning, MachineError
from ...progress import Step
from ...request.plan import Plan, Tests
from ...request.spec import RunSpec, digest
from ...store.home import home
from ...store.identity import software_name
from ...types import TaskData
from ..measuring.attribution import Named
from ..measuring.measurement import MeasureSplit
from ..measuring.partial_results import PartialResults
from ..measuring.score_keeper import ScoreKeeper
from ..measuring.splits import Split
from ..training.models import TrainedModels
from .executors import FinishedJob, OpenWorkers, one_thread, run_jobs
from .jobs import Files, Job, WorkerSetup, get_ready, receive, run_job, worker_setup
from .shards import Shard, cut, merge

LIGHT = 2**25  # bytes of data that are sent to a worker rather than loaded by it
FORGOTTEN = 30 * 24 * 3600  # seconds after which shards of a run that was never finished are deleted


@dataclass(frozen=True)
class RunWorkers:
    """Workers, and what they need to know of a run."""

    workers: OpenWorkers
    setup: WorkerSetup
    asked: RunSpec
    shards: int | None = None  # of a split; None: by its size

    def start(self, plan: Plan) -> None:
        """Let the workers of this machine find what the plan names while this process loads data."""
        if self.workers.workers.kind == "local":
            with self.workers.open() as executor, suppress(BrokenExecutor):  # dead workers are replaced later
                for _ in range(self.workers.workers.computing):
                    executor.submit(get_ready, self.asked.model_dump_json(), software_name(plan), self.setup)

    def train(self, plan: Plan, models: TrainedModels) -> None:
        """Have the seeds trained whose weights are not stored yet."""
        missing = [s for s in plan.spec.seeds if models.weights.find(models.name(plan, s)) is None]
        if not missing:
            return
        job = self._job(plan, models.data)
        with models.progress.stage("training", len(missing)) as step:
            for finished in self._finished([replace(job, seed=seed) for seed in missing]):
                receive(finished.result)
                step(1)

    def measure_split(self, plan: Plan, models: TrainedModels, seed: int, run: str) -> MeasureSplit:
        """What measures the model of one seed; the results of a shard are stored as soon as it ends."""
        weights = models.name(plan, seed)
        job = replace(self._job(plan, models.data), seed=seed, files=self._weights(weights))
        store = StoredShards(run, digest(str(seed), weights))

        def measure(
            split: Split, tests: Tests[Named], keeper: ScoreKeeper | None, step: Step
        ) -> PartialResults:
            results: dict[str, PartialResults] = {}
            missing: list[Shard] = []
            names: dict[Shard, str] = {shard: shard.name for shard in cut(split, tests, keeper, self.shards)}
            for shard, name in names.items():
                stored = store.find(name)
                if stored is None:
                    missing.append(shard)
                else:
                    results[name] = stored
                    step(len(shard))
            for finished in self._finished([replace(job, shard=shard) for shard in missing]):
                measured = finished.job.shard
                assert measured is not None, "the job was made with a shard"
                receive(finished.result)
                results[names[measured]] = PartialResults.from_bytes(finished.result.results)
                store.write(names[measured], finished.result.results)
                step(len(measured))
            return merge([results[name] for name in names.values()])

        return measure

    def delete_shards(self, run: str) -> None:
        """Delete the shards of a run that is stored or is computed again, and very old ones of others."""
        shutil.rmtree(_shards_of(run), ignore_errors=True)
        for folder in (home() / "shards").glob("*"):
            with suppress(OSError):
                if time.time() - folder.stat().st_mtime > FORGOTTEN:
                    shutil.rmtree(folder, ignore_errors=True)

    def _job(self, plan: Plan, data: TaskData) -> Job:
        content = b""
        if data.features is None:  # features are as large as the examples
            content = pickle.dumps(replace(data, test=(), source=None))
        return Job(
            cell=0,
            spec=self.asked.model_dump_json(),
            software=software_name(plan),
            seed=None,
            setup=self.setup,
            data=content if len(content) <= LIGHT else b"",
        )

    def _weights(self, name: str) -> Files:
        """Trained weights for workers that may be elsewhere."""
        path = Path("weights") / name / "weights.safetensors"
        if self.workers.workers.kind == "local" or not os.path.isfile(home() / path):
            return ()
        return ((path.as_posix(), (home() / path).read_bytes()),)

    def _finished(self, jobs: Sequence[Job]) -> Iterator[FinishedJob[Job]]:
        """Every job as it ends; the first error ends all of them."""
        for finished in run_jobs(self.workers, run_job, jobs, lambda _: ()):
            if isinstance(finished.error, BrokenExecutor):
                raise MachineError(
                    "A worker process died several times at the same job; the system may have ended it for "
                    "using too much memory: try fewer --workers, or fewer examples (--limit)."
                ) from finished.error
            if finished.error is not None:
                raise finished.error
            yield finished


@contextmanager
def run_workers_for(
    workers: OpenWorkers | None,
    asked: RunSpec,
    *,
    data_dir: str | Path | None = None,
    without: tuple[str, ...] = (),
    shards: int | None = None,
) -> Iterator[RunWorkers | None]:
    """Workers for one run, if there are any besides this process.

    The driver computes with one thread, as they do: the run is the same whoever computes it.
    """
    if workers is None:
        yield None
    elif workers.workers.kind == "in-process":
        with one_thread():
            yield None
    else:
        setup_ = worker_setup(data_dir, without, keep="none")  # the results of a shard are sent back whole
        with one_thread(), setup_ as setup:
            yield RunWorkers(workers, setup, asked, shards)


class StoredShards:
    """The results of shards of a run that is not finished yet."""

    def __init__(self, run: str, of: str) -> None:
        self.folder, self.of = _shards_of(run), of

    def find(self, name: str) -> PartialResults | None:
        """The results of a shard; None if none are stored, or none that can be used."""
        try:
            return PartialResults.from_bytes(self._path(name).read_bytes())
        except (OSError, ValueError):
            return None

    def write(self, name: str, content: bytes) -> None:
        """Store the results of a shard; if that fails, warn and go on."""
        try:
            write_file(self._path(name), content)
        except OSError as error:
            reason = error.strerror or error
            message = f"The results of a shard could not be stored in '{self.folder}' ({reason}); going on."
            warnings.warn(message, AttnxWarning, stacklevel=2)

    def _path(self, name: str) -> Path:
        return self.folder / f"{digest(self.of, name)}.safetensors"


def _shards_of(run: str) -> Path:
    return home() / "shards" / run
