"""The Python entry, and what the command line calls: names or objects in, reports out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from .errors import NotKept, UsageError
from .host.catalog import Catalog
from .progress import Progress
from .request.asked import Asked
from .request.given import Objects
from .request.keep import LEVELS, Keep
from .request.parsing import read_seeds, validated
from .request.resolve import find_part, resolve
from .request.spec import Choice, Limit, RunSpec
from .run.executors import Workers, workers_of, workers_wanted

if TYPE_CHECKING:
    from .data.access import Source
    from .registry.experiments import Experiment
    from .report.findings import StudyReport
    from .report.records import Report
    from .report.sweeps import SweepReport
    from .run.evaluation import Outcome


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
    asked = Asked(installed_here())
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
    except NotKept as lost:
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

    from .run.crew import assembled
    from .run.evaluation import carry_out
    from .store.runs import Runs

    shown = progress or Progress()
    with assembled(workers, spec, data_dir=data_dir, without=without) as crew:
        return carry_out(
            plan,
            runs=Runs(Path(out)) if out else None,
            source=find_source(catalog, data_dir, shown),
            fresh=fresh,
            keep=keep,
            progress=shown,
            crew=crew,
        )


def study(
    name: Any,
    task: Any = None,
    model: Any = None,
    *,
    projection: Any = None,
    training: dict[str, Any] | None = None,
    seeds: Sequence[int] | str = (0,),
    limit: int | str | None = None,
    device: str = "auto",
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: bool = True,
) -> StudyReport:
    """Carry out a study, such as "adversarial-model:divergences=0.01+0.1", on a task and a model.

    Args:
        name: the study with its options; `attnx list studies` lists them. Or an object, as for `evaluate`.
        out: the folder of studies; by default `studies` in ATTNX_HOME.
        task, model, projection, training, seeds, limit, device, data_dir, progress: as for `evaluate`.
    """
    asked = Asked(installed_here())
    (chosen,) = asked.choices("study", name)
    spec = validated(
        task=asked.choice("task", task),
        model=asked.choice("model", model),
        projection=asked.choice("projection", projection),
        training=training or {},
        seeds=read_seeds(seeds),
        limit=Limit() if limit is None else Limit.parse(str(limit)),
        device=device,
    )
    shown = Progress("auto" if progress else "off")
    try:
        return study_spec(
            chosen, spec, asked.catalog, asked.objects, data_dir=data_dir, out=out, progress=shown
        )[0]
    except NotKept as lost:
        warnings.warn(str(lost), stacklevel=2)
        return cast("StudyReport", lost.report)


def study_spec(
    name: Choice,
    spec: RunSpec,
    catalog: Catalog,
    objects: Objects | None = None,
    *,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> tuple[StudyReport, Path | None]:
    """Carry out a study on what a spec asks for, and say which folder its report is in, if it is kept."""
    find_part(catalog, "study", name, objects)
    resolve(spec, catalog, objects)

    from .run.study import carry_out_study

    shown = progress or Progress()
    source = find_source(catalog, data_dir, shown)
    return carry_out_study(name, spec, catalog, source, shown, Path(out) if out else None, objects)


def experiment(name: str) -> Experiment:
    """A table or figure of a paper as the registry has it: its grid, its values and its claims."""
    from .request.reproduction import find_experiment

    return find_experiment(installed_here().registry.experiments, name)


def sweep(
    task: Any,
    model: Any = (),
    *,
    projection: Any = (),
    explanations: Any = (),
    references: Any = (),
    metrics: Any = (),
    training: Any = ({},),
    seeds: Sequence[int] | str = (0,),
    limit: int | str | None = None,
    device: str = "auto",
    data_dir: str | Path | None = None,
    executor: str = "local",
    workers: int = 0,
    scheduler: str = "",
    progress: bool = True,
) -> SweepReport:
    """Evaluate every cell of a grid: tasks x models x projections x trainings.

    Args:
        task, model, projection, training: one or several; cells are their product, without those that make
            no sense, which `SweepReport.refused` lists with the reason.
        explanations, references, metrics, seeds, limit, device, data_dir, progress: as for `evaluate`, the
            same in every cell.
        executor: "local" for worker processes of this machine, "dask" for a Dask cluster.
        workers: how many; 0 for as many as cores.
        scheduler: address of a Dask scheduler, as "tcp://host:8786"; by default a cluster of its own.
    """
    from .request.grid import read_grid, sort_out

    asked = {
        "task": task,
        "model": model,
        "projection": projection,
        "explanations": explanations,
        "references": references,
        "metrics": metrics,
        "training": training,
        "seeds": read_seeds(seeds),
        "device": device,
    }
    catalog = installed_here()
    cells, refused = sort_out(read_grid(asked | ({} if limit is None else {"limit": limit}), None), catalog)

    from .run.sweep import carry_out_sweep

    return carry_out_sweep(
        cells,
        refused,
        catalog,
        workers_of(executor, workers, scheduler),
        data_dir=Path(data_dir) if data_dir else None,
        progress=Progress("auto" if progress else "off"),
    )


def fetch_dataset(name: str) -> Path:
    """The folder of a dataset of the registry, fetched when it is not on this machine yet."""
    return find_source(Catalog.installed(), None, Progress()).fetch(name).folder


def installed_here() -> Catalog:
    """The installed components; what is broken and not asked for is a warning."""
    catalog = Catalog.installed()
    for text in catalog.warnings:
        warnings.warn(text, stacklevel=3)
    return catalog


def find_source(catalog: Catalog, data_dir: str | Path | None, progress: Progress) -> Source:
    """Where tasks find their files: the user's folder or the one ATTNX_DATA names, and the cache."""
    from .data.access import Source
    from .store.home import home

    local = Path(data_dir) if data_dir else None
    registry = catalog.registry
    return Source.configured(registry.datasets, home() / "data", local, progress, registry.defaults.task)
