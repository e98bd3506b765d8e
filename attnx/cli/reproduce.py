"""`attnx reproduce`: a table or figure of a paper."""

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
        typer.Argument(metavar="EXPERIMENT", help="As --list names them.", autocompletion=experiment_names),
    ] = "",
    size: Annotated[
        str, typer.Option(help="small: a reduction that takes minutes; paper: the paper's own size.")
    ] = "small",
    list_: Annotated[
        bool, typer.Option("--list", help="List the experiments with their sizes and durations, and stop.")
    ] = False,
    seeds: Annotated[
        str | None, typer.Option(help="Training seeds, as 0,1,2 or 0-9.  [default: the size's]")
    ] = None,
    executor: Annotated[
        str, typer.Option(help="local: worker processes of this machine; dask: a Dask cluster.")
    ] = "local",
    workers: Annotated[int, typer.Option(min=0, help="Workers; 0: as many as cores.")] = 0,
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Dask scheduler, as tcp://host:8786.  [default: its own]")
    ] = "",
    data_dir: DataDir = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results.  [default: reproductions in ATTNX_HOME]")
    ] = None,
    json: Json = False,
) -> None:
    """Run a table or figure of a paper: published and measured side by side, and which claims hold.

    A claim holds where the difference it speaks of is beyond noise in its direction, does not hold where
    it is beyond noise in the other, and is open otherwise. Finished runs and trained weights are kept and
    taken again. Writes a page, Markdown and JSON.

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
        raise UsageError("Name an experiment: see 'attnx reproduce --list'.")
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
