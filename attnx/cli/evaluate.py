"""`attnx evaluate`: one run, from names to a report."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import NotStored
from ..request.keep_levels import Keep
from .catalog import installed_catalog, switched_off
from .completion import names_of
from .options import (
    DataDir,
    Device,
    Executor,
    Json,
    Limit,
    Model,
    Out,
    Projection,
    Scheduler,
    Seeds,
    Task,
    Train,
    usual,
)


def evaluate(
    task: Task = None,
    model: Model = None,
    projection: Projection = None,
    explanation: Annotated[
        list[str] | None,
        typer.Option(
            help="Importance method under test (repeatable).  "
            f"[default: the first that the model can give of {usual('explanations')}]",
            autocompletion=names_of("importance"),
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            help="Importance method to compare with (repeatable).", autocompletion=names_of("importance")
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric (repeatable); all that apply, or none.  [default: the tests of a plain run]",
            autocompletion=names_of("metric"),
        ),
    ] = None,
    seeds: Seeds = None,
    limit: Limit = None,
    train: Train = None,
    sample: Annotated[
        str | None,
        typer.Option(metavar="N|all", help="Test examples of the dear tests.  [default: by a budget]"),
    ] = None,
    spec: Annotated[Path | None, typer.Option(help="YAML file with any of the above.")] = None,
    data_dir: DataDir = None,
    out: Out = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute even if the run is stored.")] = False,
    keep: Annotated[
        Keep, typer.Option(metavar="none|values|all", help="How much of every example is kept.")
    ] = "all",
    workers: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Share the work among so many one-thread workers; 0: as many as cores.  "
            "[default: this process alone]",
        ),
    ] = None,
    executor: Executor = "local",
    scheduler: Scheduler = "",
    json: Json = False,
    device: Device = None,
) -> None:
    """Evaluate a model's explanations on a task and print the report.

    Options of a component follow its name: NAME:key=value,key=value.

    On two cores a generated task takes seconds, 2500 reviews with a BiLSTM some minutes; every seed
    trains once and its weights are kept. Leave-one-out costs a pass for every unit, integrated
    gradients 50; --limit makes all of it smaller. A stored run is printed at once.

    Examples:

      attnx evaluate --task imdb --model bilstm-add --seeds 0-2

      attnx evaluate --task sdc-2d --model fcam-mlp --projection sparsegen:lam=0.5 --seeds 0,1,2

      attnx evaluate --task sdc-error-mode-1 --metric focus --seeds 0-9 --json
    """
    from ..api.evaluate import evaluate_spec
    from ..request.parsing import read_request
    from ..run.workers.executors import workers_wanted

    asked = {
        "task": task,
        "model": model,
        "projection": projection,
        "explanations": explanation,
        "references": reference,
        "metrics": metric,
        "seeds": seeds,
        "limit": limit,
        "training": train,
        "sample": sample,
        "device": device,
    }
    request = read_request({key: value for key, value in asked.items() if value not in (None, [])}, spec)
    try:
        outcome = evaluate_spec(
            request,
            installed_catalog(),
            data_dir=data_dir,
            out=out,
            fresh=fresh,
            keep=keep,
            workers=workers_wanted(executor, workers, scheduler),
            without=tuple(switched_off),
        )
    except NotStored as lost:
        _show(lost.report, json)
        raise
    _show(outcome.report, json)
    if json:
        return
    state = "stored run, nothing computed" if outcome.stored else "run"
    print(f"{state}: {outcome.folder}/report.html", file=sys.stderr)


def _show(report: Any, json: bool) -> None:
    if json:
        sys.stdout.write(report.to_json())
        return

    from ..views.terminal.report import print_report, print_warnings

    print_report(report)
    print_warnings(report.warnings)
