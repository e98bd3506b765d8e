"""`attnx sweep`: evaluate a grid of runs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import NotStored
from .completion import names_of
from .global_options import installed_catalog
from .options import (
    DataDir,
    Device,
    Executor,
    Explanations,
    Fresh,
    Insecure,
    Json,
    KeepLevel,
    Limit,
    Metrics,
    References,
    Sample,
    Scheduler,
    Seeds,
    TlsCa,
    TlsCert,
    TlsKey,
)
from .plugin_output import prints_aside

if TYPE_CHECKING:
    from ..request.grid import SweepPlan
    from ..results.sweep import SweepReport


def sweep(
    spec: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML file with any of the options below.")
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Task (repeatable).", autocompletion=names_of("task")),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Model (repeatable).  [default: the one that each task recommends]",
            autocompletion=names_of("model"),
        ),
    ] = None,
    projection: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Projection (repeatable).", autocompletion=names_of("projection")),
    ] = None,
    explanation: Explanations = None,
    reference: References = None,
    metric: Metrics = None,
    train: Annotated[
        list[str] | None,
        typer.Option(metavar="K=V,...", help="Training settings (repeatable; each makes its own cells)."),
    ] = None,
    seeds: Seeds = None,
    limit: Limit = None,
    sample: Sample = None,
    executor: Executor = "local",
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Number of workers.  [default: one per core]")
    ] = None,
    scheduler: Scheduler = "",
    tls_ca: TlsCa = "",
    tls_cert: TlsCert = "",
    tls_key: TlsKey = "",
    insecure: Insecure = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the cells; run nothing.")] = False,
    data_dir: DataDir = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder where sweeps are stored.  [default: sweeps in ATTNX_HOME]"
        ),
    ] = None,
    fresh: Fresh = False,
    keep: KeepLevel = "values",
    json: Json = False,
    device: Device = None,
) -> None:
    """Evaluate a grid of tasks, models, projections and settings.

    Every combination of task, model, projection and training settings is one cell; seeds, explanations and
    metrics are the same in all cells. Incompatible combinations are listed before anything runs. Finished
    cells are stored: a sweep that was killed resumes when it is started again.

    Examples:

      attnx sweep --task sdc-2d --projection softmax --projection sparsemax --seeds 0-2

      attnx sweep --spec grid.yaml --executor dask --scheduler tls://node1:8786
    """
    from ..request.grid import plan_sweep, read_grid

    asked = {
        "task": task,
        "model": model,
        "projection": projection,
        "explanations": explanation,
        "references": reference,
        "metrics": metric,
        "training": train,
        "seeds": seeds,
        "limit": limit,
        "sample": sample,
        "device": device,
    }
    catalog = installed_catalog()
    given = {key: value for key, value in asked.items() if value not in (None, [])}
    plan = plan_sweep(read_grid(given, spec), catalog)
    _announce(plan)
    if dry_run:
        print("\n".join(cell.title for cell in plan.cells))
        return

    from ..api.sweep import sweep_plan
    from ..run.workers.dask_cluster import Trust
    from ..run.workers.executors import choose_workers

    try:
        report = prints_aside(sweep_plan)(
            plan,
            catalog,
            workers=choose_workers(executor, workers, scheduler, Trust(tls_ca, tls_cert, tls_key, insecure)),
            data_dir=data_dir,
            out=out,
            fresh=fresh,
            keep=keep,
        )
    except NotStored as lost:
        _show(lost.report, json)
        raise
    _show(report, json)
    if not json:
        print(f"page: {report.folder}/sweep.html", file=sys.stderr)
    if report.failed:
        raise typer.Exit(1)


def _announce(plan: "SweepPlan") -> None:
    for refused in plan.refused:
        print(f"left out: {refused.title}: {refused.reason}", file=sys.stderr)
    cells, seeds = len(plan.cells), len(plan.cells[0].asked.seeds)
    print(f"{cells} cell{'s' * (cells != 1)}, {seeds} seed{'s' * (seeds > 1)} each", file=sys.stderr)


def _show(report: "SweepReport", json: bool) -> None:
    if json:
        sys.stdout.write(report.to_json())
        return

    from ..views.terminal.sweep import print_sweep

    print_sweep(report)
