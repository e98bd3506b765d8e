"""`attnx.evaluate`: names or objects in, a report out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from ..errors import NotStored, UsageError
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.arguments import Arguments
from ..request.keep_levels import LEVELS, Keep
from ..request.objects import Objects
from ..request.parsing import read_seeds, validated
from ..request.resolve import resolve
from ..request.spec import Limit, RunSpec
from ..run.workers.executors import Workers, workers_wanted
from .setup import find_source, installed_here

if TYPE_CHECKING:
    from ..results.report import Report
    from ..run.evaluation import Outcome


def evaluate(
    task: Any = None,
    model: Any = None,
    *,
    projection: Any = None,
    explanations: Any = (),
    references: Any = (),
    metrics: Any = (),
    training: dict[str, Any] | None = None,
    seeds: Sequence[int] | str = (0,),
    limit: int | str | None = None,
    sample: int | Literal["auto", "all"] = "auto",
    device: str = "auto",
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    keep: Keep = "all",
    workers: int | None = None,
    executor: str = "local",
    scheduler: str = "",
    progress: bool = True,
) -> Report:
    """Evaluate a model's explanations on a task.

    Every component is a name, as on the command line ("sparsegen:lam=0.5"), an object that follows
    the protocol, or a class, with its options where it takes any: (BiLstm, {"hidden": 64}). A model's
    class is built and trained; a trained instance is measured as it is. Without `explanations` its
    attention is tested, or, where it shows none, its gradient, or leave-one-out. A run with an
    object in it is computed each time, as no name could say what it was, and stored where `out` is
    given alone.

    Args:
        task: labelled examples made of units; `attnx list tasks` lists the names; by default the registry's.
        model: what is trained and explained; by default what the task recommends.
        projection: from scores to attention; by default the model's, or the registry's.
        explanations: importance methods under test, one or several; by default attention, where it is shown.
        references: importance methods to compare with, one or several; by default the metrics' usual ones.
        metrics: one or several; by default those of a plain run, which a verdict needs; "all" stands for
            every metric that applies, "none" leaves the model's quality alone.
        training: settings such as {"epochs": 20, "learning_rate": 0.01}.
        seeds: training seeds, as [0, 1, 2], range(3) or "0-2"; three or more tell of other trainings too.
        limit: at most so many examples of each split, as 500 or "train=500,test=200".
        sample: how many test examples the dear tests are run on; "all", or as many as a budget allows.
        device: "auto" takes a GPU where there is one.
        data_dir: a folder with datasets of your own.
        out: the folder of runs; by default `runs` in ATTNX_HOME.
        keep: what is kept of every example beside the report, for `Report.examples()`: "all", "values"
            (predictions and measures, neither units nor scores) or "none".
        fresh: compute even if the run is stored.
        workers: share the work among so many one-thread processes, 0 for as many as cores; by default none.
        executor, scheduler: as for `sweep`.
        progress: tell on stderr how far it is.
    """
    asked = Arguments(installed_here())
    spec = validated(
        task=asked.choice("task", task),
        model=asked.choice("model", model),
        projection=asked.choice("projection", projection),
        explanations=asked.choices("importance", explanations),
        references=asked.choices("importance", references),
        metrics=asked.choices("metric", metrics),
        training=training or {},
        seeds=read_seeds(seeds),
        limit=Limit() if limit is None else Limit.parse(str(limit)),
        sample=sample,
        device=device,
    )
    try:
        return evaluate_spec(
            spec,
            asked.catalog,
            asked.objects,
            data_dir=data_dir,
            out=out,
            fresh=fresh,
            keep=keep,
            workers=workers_wanted(executor, workers, scheduler),
            progress=Progress("auto" if progress else "off"),
        ).report
    except NotStored as lost:
        warnings.warn(str(lost), stacklevel=2)
        return cast("Report", lost.report)


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
    without: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Outcome:
    """Evaluate what a spec asks for; a bad one is refused before anything heavy is imported."""
    if keep not in LEVELS:
        raise UsageError(f"Cannot keep '{keep}' of the examples: give {', '.join(LEVELS)}.")
    plan = resolve(spec, catalog, objects)

    from ..run.evaluation import carry_out
    from ..run.workers.shared_run import run_workers_for
    from ..store.runs import Runs

    shown = progress or Progress()
    with run_workers_for(workers, spec, data_dir=data_dir, without=without) as run_workers:
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
