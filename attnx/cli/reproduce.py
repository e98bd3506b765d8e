"""`attnx reproduce`: reproduce a table or figure of a paper."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from .catalog import installed_catalog
from .completion import experiment_names
from .options import DataDir, Json


def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="[EXPERIMENT]",
            help="Name of the experiment (see --list).",
            autocompletion=experiment_names,
        ),
    ] = "",
    size: Annotated[
        str,
        typer.Option(
            metavar="small|paper", help="small: reduced, takes minutes; paper: the size in the paper."
        ),
    ] = "small",
    list_: Annotated[
        bool, typer.Option("--list", help="List the experiments with sizes and durations; run nothing.")
    ] = False,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="SEEDS", help="Training seeds, e.g. 0,1,2 or 0-9.  [default: those of the size]"
        ),
    ] = None,
    executor: Annotated[
        str,
        typer.Option(
            metavar="local|dask", help="Where workers run: processes on this machine, or a Dask cluster."
        ),
    ] = "local",
    workers: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of worker processes; 0: one per core.")
    ] = 0,
    scheduler: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Dask scheduler, e.g. tcp://host:8786.  [default: start one here]"
        ),
    ] = "",
    data_dir: DataDir = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where results are stored.  [default: reproductions in ATTNX_HOME]"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Reproduce a table or figure of a paper.

    Prints published and measured values side by side, and whether each claim of the paper holds. A claim
    holds if its difference is significant in the stated direction, does not hold if it is significant in
    the other direction, and is inconclusive otherwise. Stored runs and weights are reused. Writes an HTML
    page, Markdown and JSON.

    Examples:

      attnx reproduce --list

      attnx reproduce sdc-figure-5

      attnx reproduce meister-table-6 --size paper --data-dir data
    """
    from ..errors import UsageError
    from ..request.experiment import find_experiment, plan_experiment

    catalog = installed_catalog()
    known = catalog.registry.experiments
    if list_:
        from ..views.terminal.experiments import experiment_list

        print(experiment_list(known))
        return
    if not experiment:
        raise UsageError("No experiment is given. See 'attnx reproduce --list' for their names.")
    asked = plan_experiment(experiment, find_experiment(known, experiment), size, seeds)

    from ..api.reproduce import reproduce_plan

    found, folder = reproduce_plan(
        asked,
        catalog,
        executor=executor,
        workers=workers,
        scheduler=scheduler,
        data_dir=data_dir,
        out=out,
    )
    if json:
        sys.stdout.write(found.to_json())
    else:
        from ..views.terminal.reproduction import print_reproduction

        print_reproduction(found)
    print(f"page: {folder}/reproduction.html", file=sys.stderr)
