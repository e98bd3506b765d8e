"""One run shared among workers: the same report, byte for byte, however its test split is cut."""

import json
from contextlib import ExitStack

import numpy as np
import pytest
import torch

from attnx.api.evaluate import evaluate_spec
from attnx.api.setup import find_source
from attnx.errors import MachineError
from attnx.host.catalog import Catalog
from attnx.plugin import UsageError
from attnx.progress import Progress
from attnx.request.grid import Cell
from attnx.request.plan import Tests
from attnx.request.resolve import resolve
from attnx.request.spec import Choice, RunSpec
from attnx.results.report import Report
from attnx.run.data_cache import data_cache
from attnx.run.evaluation import carry_out
from attnx.run.measuring.attribution import Named
from attnx.run.measuring.measurement import measure
from attnx.run.measuring.partial_results import PartialResults
from attnx.run.measuring.splits import Split, batches
from attnx.run.workers.executors import OpenWorkers, Workers
from attnx.run.workers.jobs import run_job
from attnx.run.workers.shards import cut
from attnx.run.workers.shared_run import run_workers_for
from attnx.run.workers.sweep import carry_out_cells
from attnx.store.home import home
from attnx.store.runs import Runs
from attnx.types import Corpus

SPEC = RunSpec(
    task=Choice.parse("sdc-text:train=40,dev=20,test=60"),
    model=Choice.parse("average-add"),
    explanations=(Choice.parse("attention"), Choice.parse("gradient")),
    references=(Choice.parse("loo"),),
    metrics=tuple(
        map(Choice.parse, ("kendall", "comprehensiveness", "permutation", "mi-kendall:clusters=3,repeats=1"))
    ),
    training={"epochs": 1},
    seeds=(0, 1),
)
QUIET = Progress("off")


class Here:
    """An executor in this process, as workers are elsewhere: nothing is shared but what is sent."""

    def __init__(self, work=run_job):
        self.work, self.jobs = work, []

    def __call__(self, workers, work, jobs, then):
        from pickle import dumps, loads

        from attnx.run.workers.executors import FinishedJob

        for job in jobs:
            self.jobs.append(job)
            try:
                done = FinishedJob(job, loads(dumps(self.work(loads(dumps(job))))))
            except Exception as error:
                done = FinishedJob(job, error=error)
            assert not list(then(done))
            yield done


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Batches of a few texts, here and in every shard; and nothing is drawn."""
    monkeypatch.setattr("attnx.store.runs.write_page", lambda *_: None)
    from attnx.formulas import chunks

    few = chunks.similar_lengths
    monkeypatch.setattr("attnx.run.workers.shards.similar_lengths", lambda lengths: few(lengths, 128))
    monkeypatch.setattr("attnx.run.measuring.splits.similar_lengths", lambda lengths, _=0: few(lengths, 128))


def evaluated(tmp_path, monkeypatch, shards, spec=SPEC, executor=None, where=None, start=lambda *_: None):
    """The folder of a run, with so many shards; 0 for a single process."""
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / (where or f"home {shards}")))
    catalog = Catalog.installed()
    executor = executor or Here()
    monkeypatch.setattr("attnx.run.workers.shared_run.run_jobs", executor)
    monkeypatch.setattr("attnx.run.workers.shared_run.RunWorkers.start", start)
    workers = OpenWorkers(Workers("local", 1), ExitStack()) if shards else None
    with run_workers_for(workers, spec, shards=shards or None) as run_workers:
        found = carry_out(
            resolve(spec, catalog),
            source=find_source(catalog, None, QUIET),
            progress=QUIET,
            run_workers=run_workers,
        )
    return found.folder


def content(folder):
    """Everything that a run keeps, without its timings."""
    report = Report.from_json((folder / "report.json").read_text(encoding="utf-8"))
    return report.without_times().to_json(), *(
        (folder / f"examples.{kind}").read_bytes() for kind in ("safetensors", "jsonl.gz")
    )


@pytest.mark.parametrize(("sample", "numbers"), [("all", (1, 2, 3, 7)), (30, (3,))])
def test_any_number_of_shards_gives_the_same_report_byte_for_byte(tmp_path, monkeypatch, sample, numbers):
    spec = SPEC.model_copy(update={"sample": sample})
    alone = content(evaluated(tmp_path, monkeypatch, 0, spec))
    assert '"tau"' in alone[0]
    for shards in numbers:
        executor = Here()
        assert content(evaluated(tmp_path, monkeypatch, shards, spec, executor)) == alone
        sent = [job.shard for job in executor.jobs if job.shard]
        splits = len(spec.seeds) * (1 if sample == "all" else 2)
        assert len(sent) == shards * splits
        assert not (home() / "shards").exists() or not list((home() / "shards").iterdir())


def test_workers_get_ready_before_the_data_is_loaded(tmp_path, monkeypatch):
    order, load = [], data_cache.load
    monkeypatch.setattr(data_cache, "load", lambda *asked: order.append("data") or load(*asked))
    evaluated(tmp_path, monkeypatch, 2, start=lambda *_: order.append("workers"))
    assert order[:2] == ["workers", "data"]
    assert order.count("workers") == 1


def test_the_cut_holds_every_example_once_and_no_worker_is_sent_the_rest_of_the_split():
    from attnx.testing import ToyModel, toy_data

    model = ToyModel()
    split = Split(model, toy_data().test * 9, torch.device("cpu"))
    shards = cut(split, Tests(), None, 2)
    assert sorted(np.concatenate([rows for shard in shards for rows in shard.rows])) == list(
        range(len(split))
    )
    for shard in shards:
        for rows, examples in zip(shard.rows, shard.examples, strict=True):
            assert [split.examples[row] for row in rows] == list(examples)


def test_results_are_the_same_when_they_are_read_back_and_anything_else_is_refused():
    from attnx.testing import ToyModel, toy_data

    model = ToyModel()
    split = Split(model, toy_data().test, torch.device("cpu"))
    tests = Tests(explanations=(Named("attention", Attention()),))
    corpus = Corpus(unit_counts=split.unit_counts)
    with QUIET.stage("toy", len(split)) as step:
        results = measure(model, batches(split), tests, corpus, step, seed=0, size=len(split))
    written = results.to_bytes()
    again = PartialResults.from_bytes(written)
    assert torch.equal(again.logits, results.logits)
    assert torch.equal(again.traits["attention"], results.traits["attention"])
    assert again.costs == results.costs
    for damaged in (written[:-1], written[:-1] + bytes([written[-1] ^ 1]), b"", b"\0" * 64):
        with pytest.raises(ValueError, match="not what was written"):
            PartialResults.from_bytes(damaged)


class Attention:
    needs = ()
    signed = False

    def __call__(self, model, trace, target, random):
        return trace.attention


def test_shards_that_ended_before_the_driver_was_killed_are_not_measured_again(tmp_path, monkeypatch):
    alone = content(evaluated(tmp_path, monkeypatch, 0))

    def until_killed(job, left=[5]):  # noqa: B006 - it counts: two trainings and three shards
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return run_job(job)

    with pytest.raises(KeyboardInterrupt):
        evaluated(tmp_path, monkeypatch, 7, executor=Here(until_killed), where="killed")
    (folder,) = (home() / "shards").iterdir()
    kept = sorted(folder.iterdir())
    assert len(kept) == 3
    kept[0].write_bytes(kept[0].read_bytes()[:-1])
    rest = Here()
    assert content(evaluated(tmp_path, monkeypatch, 7, executor=rest, where="killed")) == alone
    assert len(rest.jobs) == 2 * 7 - 2
    assert not folder.exists()


def test_the_error_of_a_shard_ends_the_run_in_one_line(tmp_path, monkeypatch):
    from concurrent.futures import BrokenExecutor

    def dying(job):
        raise BrokenExecutor("died")

    with pytest.raises(MachineError, match="worker process died several times"):
        evaluated(tmp_path, monkeypatch, 2, executor=Here(dying))


def test_cells_of_a_sweep_that_are_fewer_than_its_workers_are_measured_by_all_of_them(tmp_path, monkeypatch):
    alone = content(evaluated(tmp_path, monkeypatch, 0))
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "swept"))
    executor = Here()
    monkeypatch.setattr("attnx.run.workers.shared_run.run_jobs", executor)
    monkeypatch.setattr("attnx.run.workers.shared_run.RunWorkers.start", lambda *_: None)
    monkeypatch.setattr("attnx.run.workers.sweep.run_jobs", executor)
    failing = SPEC.model_copy(update={"training": {"epochs": 1, "learning_rate": 1e30}})
    catalog = Catalog.installed()
    cells = [Cell(spec, resolve(spec, catalog)) for spec in (SPEC, failing)]
    workers = OpenWorkers(Workers("local", 3), ExitStack())
    found = carry_out_cells(cells, catalog, workers, progress=QUIET)
    assert found.runs == {0: json.loads(alone[0])["fingerprint"]}
    assert {row.run for row in found.rows[0]} == {found.runs[0]}
    assert content(Runs().folder(found.runs[0]))[0] == alone[0]
    assert len([job for job in executor.jobs if job.shard]) > 2 * len(SPEC.seeds)
    assert found.failed.keys() == {1}
    assert "diverged" in found.failed[1]


def test_an_object_is_not_measured_by_workers():
    from attnx import evaluate
    from attnx.testing import ToyModel

    with pytest.raises(UsageError, match="Workers find components by name"):
        evaluate("sdc-text", ToyModel(), workers=1, progress=False)


@pytest.mark.slow
def test_two_worker_processes_give_the_report_of_one(tmp_path, monkeypatch):
    monkeypatch.undo()
    catalog = Catalog.installed()
    found = {}
    for workers in (None, Workers("local", 2)):
        monkeypatch.setenv("ATTNX_HOME", str(tmp_path / str(workers is None)))
        outcome = evaluate_spec(SPEC, catalog, workers=workers, progress=QUIET)
        found[workers is None] = content(outcome.folder)
        assert Runs().find(outcome.report.fingerprint)
    assert found[True] == found[False]
