"""`attnx.evaluate`: explanations of a model, tested on a task."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from ..host.catalog import Catalog
from ..progress import Progress
from ..request.arguments import Arguments
from ..request.keep_levels import Keep, check_level
from ..request.objects import Objects
from ..request.parsing import read_seeds, validated
from ..request.resolve import resolve
from ..request.spec import Limit, RunSpec
from ..run.workers.dask_cluster import Trust
from ..run.workers.executors import ExecutorName, Workers, choose_run_workers
from .setup import computed, find_source, installed_here

if TYPE_CHECKING:
    from ..results.report import Report
    from ..run.evaluation import Outcome
    from .arguments import (
        ImportancesLike,
        LimitLike,
        MetricsLike,
        ModelLike,
        ProjectionLike,
        SampleLike,
        SeedsLike,
        TaskLike,
        TrainingLike,
    )


def evaluate(
    task: TaskLike | None = None,
    model: ModelLike | None = None,
    *,
    projection: ProjectionLike | None = None,
    explanations: ImportancesLike = (),
    references: ImportancesLike = (),
    metrics: MetricsLike = (),
    target: str = "predicted",
    versus: str | None = None,
    training: TrainingLike | None = None,
    seeds: SeedsLike = (0,),
    limit: LimitLike | None = None,
    sample: SampleLike = "auto",
    device: str = "auto",
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    keep: Keep = "all",
    workers: int | None = None,
    executor: ExecutorName | None = None,
    scheduler: str = "",
    tls: Mapping[str, str | Path] | None = None,
    insecure: bool = False,
    progress: bool = True,
) -> Report:
    """Evaluate explanations of a model on a task.

    Every component is a name, as on the command line ("sparsegen:lam=0.5"), an object that follows
    the protocol, or a class, with its options if it takes any: (BiLstm, {"hidden": 64}). A model's
    class is built and trained; a trained instance is measured as it is. Without `explanations` its
    attention is tested, or, if it has none, its gradient or leave-one-out. A run with a Python object in
    it is never cached, because an object has no stable name; it is saved only if `out` is given.

    Args:
        task: labelled examples; `attnx list tasks` lists the names; by default the task of the registry.
        model: what is trained and explained; by default the model that the task recommends.
        projection: the function from scores to attention; by default that of the model.
        explanations: importance methods to test, one or several; by default attention, if there is any.
        references: importance methods to compare with, one or several; by default the metrics' usual ones.
        metrics: one or several; by default the standard set, which a verdict needs; "all" is every metric
            that applies, "none" measures only the quality of the model.
        target: the class that is explained and whose output removal tests measure: its name, "predicted" for
            the predicted class of each example, or "gold" for its label.
        versus: the class that `target` is contrasted with: why `target` and not this one. Explanations and
            removal tests are then about p(target) − p(versus).
        training: settings such as {"epochs": 20, "learning_rate": 0.01}.
        seeds: training seeds, e.g. [0, 1, 2], range(3) or "0-2"; use at least three, so that intervals
            include the differences between training runs.
        limit: the largest number of examples of each split, e.g. 500 or "train=500,test=200".
        sample: on how many test examples expensive metrics are measured; "all", or "auto" for as many as a
            budget allows.
        device: "auto" takes a GPU if there is one.
        data_dir: a folder with datasets of your own.
        out: the folder of runs; by default `runs` in ATTNX_HOME.
        keep: what is stored of every example, for `Report.examples()`: "all", "values" (predictions and
            measures, without units and scores) or "none".
        fresh: compute even if the run is stored.
        workers: how many one-thread processes share the work, 0 for one per core; by default none.
        executor: where the work is done, as for `sweep`.
        scheduler: address of a Dask scheduler, as for `sweep`.
        tls: files of certificates for the scheduler, as for `sweep`.
        insecure: use a scheduler on another machine without TLS.
        progress: show progress on stderr.

    Returns:
        The report: verdict, measures with intervals, warnings, and what the run was made of.

    Raises:
        UsageError: a name or an option is wrong, or the parts do not fit together.
        PluginError: a component fails or breaks its contract.
        DataError: data is missing or unusable.
        MachineError: the disk is full or memory runs out.
    """
    asked = Arguments(installed_here())
    spec = validated(
        task=asked.choice("task", task),
        model=asked.choice("model", model),
        projection=asked.choice("projection", projection),
        explanations=asked.choices("importance", explanations),
        references=asked.choices("importance", references),
        metrics=asked.choices("metric", metrics),
        target=target,
        versus=versus,
        training=dict(training or {}),
        seeds=read_seeds(seeds),
        limit=Limit() if limit is None else Limit.parse(str(limit)),
        sample=sample,
        device=device,
    )
    return computed(
        lambda: (
            evaluate_spec(
                spec,
                asked.catalog,
                asked.objects,
                data_dir=data_dir,
                out=out,
                fresh=fresh,
                keep=keep,
                workers=choose_run_workers(executor, workers, scheduler, Trust.given(tls, insecure)),
                progress=Progress("auto" if progress else "off"),
            ).report
        )
    )


def evaluate_spec(
    spec: RunSpec,
    catalog: Catalog,
    objects: Objects | None = None,
    *,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    keep: Keep = "all",
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Evaluate what a spec asks for; a bad one is refused before anything heavy is imported."""
    check_level(keep)
    plan = resolve(spec, catalog, objects)
    with workers.started() if workers else nullcontext() as started:
        from ..run.evaluation import carry_out
        from ..run.workers.shared_run import run_workers_for
        from ..store.runs import Runs

        shown = progress or Progress()
        with run_workers_for(started, spec, data_dir=data_dir, without=catalog.without) as run_workers:
            return carry_out(
                plan,
                runs=Runs(Path(out)) if out else None,
                source=find_source(catalog, data_dir, shown),
                fresh=fresh,
                keep=keep,
                progress=shown,
                run_workers=run_workers,
                catalog=catalog,
            )
