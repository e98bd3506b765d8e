"""`attnx sweep`: evaluate a grid of runs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import MachineError
from .catalog import installed_catalog, switched_off
from .options import DataDir, Device, Executor, Json, Limit, Scheduler, Seeds


def sweep(
    spec: Annotated[Path | None, typer.Option(metavar="FILE", help="YAML file with the grid.")] = None,
    task: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Task (repeatable).")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Model (repeatable).  [default: the one each task recommends]"),
    ] = None,
    projection: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Projection (repeatable).")
    ] = None,
    explanation: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Importance method to test, in every cell (repeatable)."),
    ] = None,
    reference: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Importance method to compare with (repeatable).")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Metric, in every cell (repeatable).")
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(metavar="K=V,...", help="Training settings (repeatable; each makes its own cells)."),
    ] = None,
    seeds: Seeds = None,
    limit: Limit = None,
    executor: Executor = "local",
    workers: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of worker processes; 0: one per core.")
    ] = 0,
    scheduler: Scheduler = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the cells; run nothing.")] = False,
    data_dir: DataDir = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where sweeps are stored.  [default: sweeps in ATTNX_HOME]"),
    ] = None,
    json: Json = False,
    device: Device = None,
) -> None:
    """Evaluate a grid of tasks, models, projections and settings.

    Every combination of task, model, projection and training settings is one cell; seeds, explanations and
    metrics are the same in all cells. Incompatible combinations are listed before anything runs. Finished
    cells are stored: a sweep that was killed resumes when it is started again.

    Examples:

      attnx sweep --task sdc-2d --projection softmax --projection sparsemax --seeds 0-2

      attnx sweep --spec grid.yaml --executor dask --scheduler tcp://node1:8786
    """
    from ..request.grid import read_grid, sort_out

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
        "device": device,
    }
    grid = read_grid({key: value for key, value in asked.items() if value not in (None, [])}, spec)
    catalog = installed_catalog()
    cells, refused = sort_out(grid, catalog)
    for one in refused:
        print(f"left out: {one.cell.title}: {one.reason}", file=sys.stderr)
    seeds_each = f"{len(grid.seeds)} seed{'s' * (len(grid.seeds) > 1)} each"
    print(f"{len(cells)} cell{'s' * (len(cells) != 1)}, {seeds_each}", file=sys.stderr)
    if dry_run:
        print("\n".join(cell.title for cell in cells))
        return

    from ..run.workers.executors import workers_of
    from ..run.workers.sweep import carry_out_sweep

    report = carry_out_sweep(
        cells,
        refused,
        catalog,
        workers_of(executor, workers, scheduler),
        data_dir=data_dir,
        without=tuple(switched_off),
    )
    if json:
        sys.stdout.write(report.to_json())
    else:
        from ..views.terminal.sweep import print_sweep

        print_sweep(report)

    from ..store.sweeps import write_sweep

    try:
        folder = write_sweep(report, cells, out)
    except OSError as error:  # all that was found is printed, and every cell kept
        raise MachineError(f"The page of the sweep is not kept: {error.strerror or error}.") from error
    if not json:
        print(f"page: {folder}/sweep.html", file=sys.stderr)
    if report.failed:
        raise typer.Exit(1)
