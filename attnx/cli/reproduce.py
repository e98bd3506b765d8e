"""`attnx reproduce`: reproduce a table or figure of a paper."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import NotStored
from .completion import experiment_names
from .global_options import installed_catalog, switched_off
from .options import (
    DataDir,
    Executor,
    Insecure,
    Json,
    Scheduler,
    TlsCa,
    TlsCert,
    TlsKey,
)
from .plugin_output import prints_aside

if TYPE_CHECKING:
    from ..results.reproduction import Reproduction


def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(metavar="EXPERIMENT", help="Name (see --list).", autocompletion=experiment_names),
    ] = "",
    size: Annotated[
        str,
        typer.Option(
            metavar="small|standard|paper",
            help="small: a smoke test of minutes that decides nothing; standard: decides the claims; "
            "paper: as in the paper.",
        ),
    ] = "standard",
    list_: Annotated[
        bool, typer.Option("--list", help="List the experiments with sizes and durations; run nothing.")
    ] = False,
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this task of the table (repeatable).  [default: all]"),
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this row of the table (repeatable).  [default: all]"),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="SEEDS", help="Training seeds, e.g. 0,1,2 or 0-9.  [default: the size's]"),
    ] = None,
    executor: Executor = "local",
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Number of workers.  [default: one per core]")
    ] = None,
    scheduler: Scheduler = "",
    tls_ca: TlsCa = "",
    tls_cert: TlsCert = "",
    tls_key: TlsKey = "",
    insecure: Insecure = False,
    data_dir: DataDir = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder of the results.  [default: reproductions in ATTNX_HOME]"),
    ] = None,
    json: Json = False,
) -> None:
    """Reproduce a table or figure of a paper.

    Prints published and measured values side by side, and whether each claim of the paper holds. A claim
    holds if its difference is significant in the stated direction, does not hold if it is significant in
    the other direction, and is inconclusive otherwise; if the models did not learn, it is undertrained.
    Stored runs and weights are reused. Writes an HTML page, Markdown and JSON.

    Examples:

      attnx reproduce --list

      attnx reproduce sdc-figure-5

      attnx reproduce jain-wallace-table-2 --task sst --task 20news --data-dir data

      attnx reproduce meister-table-6 --size paper --data-dir data
    """
    from ..errors import UsageError
    from ..request.experiment import find_experiment, plan_experiment

    if list_:
        from ..components import experiments
        from ..views.terminal.experiments import experiment_list

        print(experiment_list(experiments(without=switched_off)))
        return
    if not experiment:
        raise UsageError("No experiment is given. See 'attnx reproduce --list' for their names.")
    catalog = installed_catalog()
    asked = plan_experiment(
        experiment,
        find_experiment(catalog.registry.experiments, experiment),
        size,
        seeds,
        tasks=task or (),
        rows=row or (),
    )

    from ..api.reproduce import reproduce_plan
    from ..run.workers.dask_cluster import Trust
    from ..run.workers.executors import choose_workers

    workers_ = choose_workers(executor, workers, scheduler, Trust(tls_ca, tls_cert, tls_key, insecure))
    try:
        found = prints_aside(reproduce_plan)(asked, catalog, workers=workers_, data_dir=data_dir, out=out)
    except NotStored as lost:
        _show(lost.report, json)
        raise
    _show(found, json)
    print(f"page: {found.folder}/reproduction.html", file=sys.stderr)


def _show(found: "Reproduction", json: bool) -> None:
    if json:
        sys.stdout.write(found.to_json())
        return

    from ..views.terminal.reproduction import print_reproduction

    print_reproduction(found)
