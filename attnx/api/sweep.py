"""`attnx.sweep`: every cell of a grid evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotStored, in_one_line
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.keep_levels import Keep, check_level
from ..request.parsing import read_seeds
from ..run.workers.dask_cluster import Trust
from ..run.workers.executors import SMALL, ExecutorName, Workers, choose_workers
from .setup import computed, installed_here

if TYPE_CHECKING:
    from ..request.grid import SweepPlan
    from ..results.sweep import SweepReport
    from .arguments import LimitLike, Names, SampleLike, SeedsLike, TrainingLike


def sweep(
    task: Names,
    model: Names = (),
    *,
    projection: Names = (),
    explanations: Names = (),
    references: Names = (),
    metrics: Names = (),
    training: TrainingLike | Sequence[TrainingLike] = ({},),
    seeds: SeedsLike = (0,),
    limit: LimitLike | None = None,
    sample: SampleLike = "auto",
    device: str = "auto",
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    keep: Keep = "values",
    workers: int | None = None,
    executor: ExecutorName | None = None,
    scheduler: str = "",
    tls: Mapping[str, str | Path] | None = None,
    insecure: bool = False,
    progress: bool = True,
) -> SweepReport:
    """Evaluate every cell of a grid: tasks x models x projections x training settings.

    Incompatible combinations are left out; `SweepReport.refused` lists them with the reason. Page, heat
    maps and JSON are stored in `SweepReport.folder`.

    Args:
        task: one or several tasks, by name.
        model: one or several models, by name; by default the one that each task recommends.
        projection: one or several projections, by name; by default the model's.
        explanations: as for `evaluate`, the same in every cell.
        references: as for `evaluate`, the same in every cell.
        metrics: as for `evaluate`, the same in every cell.
        training: one or several training settings, e.g. [{"epochs": 5}, {"epochs": 10}].
        seeds: training seeds of every cell, as for `evaluate`.
        limit: as for `evaluate`, the same in every cell.
        sample: as for `evaluate`, the same in every cell.
        device: as for `evaluate`.
        data_dir: as for `evaluate`.
        out: the folder of sweeps; by default `sweeps` in ATTNX_HOME.
        fresh: compute every cell, even if its run is stored.
        keep: what is stored of every example, as for `evaluate`.
        workers: how many worker processes; 0 for one per core.
        executor: "in-process" computes one cell after the other in this process, "local" in worker processes
            of this machine, "dask" on a Dask cluster; the results are the same. By default a small sweep
            (up to 12 training runs) is computed in this process and a larger one by worker processes.
        scheduler: address of a Dask scheduler, e.g. "tls://host:8786"; by default a cluster on this machine.
        tls: files of certificates for a scheduler with tls://: {"ca": ..., "cert": ..., "key": ...}.
        insecure: use a scheduler on another machine without TLS, because everyone on its network is trusted.
        progress: show progress on stderr.

    Returns:
        A report with a row for every explanation in every cell.

    Raises:
        UsageError: a name or an option is wrong, or no combination is possible.
        PluginError: a component fails or breaks its contract.
        DataError: data is missing or unusable.
        MachineError: the disk is full or memory runs out.
    """
    from ..request.grid import plan_sweep, read_grid

    asked = {
        "task": task,
        "model": model,
        "projection": projection,
        "explanations": explanations,
        "references": references,
        "metrics": metrics,
        "training": training,
        "seeds": read_seeds(seeds),
        "sample": sample,
        "device": device,
    }
    catalog = installed_here()
    plan = plan_sweep(read_grid(asked | ({} if limit is None else {"limit": limit}), None), catalog)
    default: ExecutorName = "in-process" if plan.training_runs <= SMALL else "local"
    return computed(
        lambda: sweep_plan(
            plan,
            catalog,
            workers=choose_workers(executor, workers, scheduler, Trust.given(tls, insecure), default=default),
            data_dir=data_dir,
            out=out,
            fresh=fresh,
            keep=keep,
            progress=Progress("auto" if progress else "off"),
        )
    )


def sweep_plan(
    plan: SweepPlan,
    catalog: Catalog,
    *,
    workers: Workers,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    keep: Keep = "values",
    progress: Progress | None = None,
) -> SweepReport:
    """Run a sweep that is planned, and store its report: `SweepReport.folder` is where."""
    check_level(keep)

    with workers.started() as started:
        from ..disk import check_writable
        from ..run.workers.sweep import carry_out_sweep
        from ..store.home import home
        from ..store.sweeps import write_sweep

        root = Path(out) if out else home() / "sweeps"
        check_writable(root, "--out")
        report = carry_out_sweep(
            plan,
            catalog,
            started,
            data_dir=Path(data_dir) if data_dir else None,
            keep=keep,
            fresh=fresh,
            progress=progress,
        )
    try:
        return report.stored_in(write_sweep(report, plan.cells, root))
    except Exception as error:  # the runs of the cells are stored, and the report is not lost
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else in_one_line(error)
        message = f"The page of the sweep could not be stored in '{root}': {reason.rstrip('.')}."
        raise NotStored(message, report) from error
