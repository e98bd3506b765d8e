"""`attnx evaluate`: evaluate the explanations of one model on one task."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import NotStored
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
    Model,
    Out,
    Projection,
    References,
    Sample,
    Scheduler,
    Seeds,
    Target,
    Task,
    TlsCa,
    TlsCert,
    TlsKey,
    Train,
    Versus,
)
from .plugin_output import prints_aside


def evaluate(
    task: Task = None,
    model: Model = None,
    projection: Projection = None,
    explanation: Explanations = None,
    reference: References = None,
    metric: Metrics = None,
    target: Target = None,
    versus: Versus = None,
    seeds: Seeds = None,
    limit: Limit = None,
    train: Train = None,
    sample: Sample = None,
    spec: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML file with any of the options above.")
    ] = None,
    data_dir: DataDir = None,
    out: Out = None,
    fresh: Fresh = False,
    keep: KeepLevel = "all",
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Number of worker processes with one thread each; 0: one per core.  "
            "[default: no workers, only this process]",
        ),
    ] = None,
    executor: Executor = None,
    scheduler: Scheduler = "",
    tls_ca: TlsCa = "",
    tls_cert: TlsCert = "",
    tls_key: TlsKey = "",
    insecure: Insecure = False,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="End with exit code 1 if the run does not meet this (repeatable), e.g. 'faithfulness>=0.5', "
            "'faithfulness>=good', 'attention/faithfulness>=0.5'.",
        ),
    ] = None,
    json: Json = False,
    device: Device = None,
) -> None:
    """Evaluate a model's explanations on a task; print a report.

    To set options of a component, write them after its name: NAME:key=value,key=value.
    A value with a comma must be in double quotes, and the whole in single quotes for the shell:
    --task 'csv:file="a,b.csv"'.

    On two cores, a generated task takes seconds; 2500 reviews with a BiLSTM take some minutes. Each seed
    is trained once and its weights are stored. Leave-one-out costs one forward pass per word, integrated
    gradients 50 passes per text; --limit reduces both. A stored run is printed at once.

    Examples:

      attnx evaluate --task imdb --model bilstm-add --seeds 0-2

      attnx evaluate --task sdc-2d --model fcam-mlp --projection sparsegen:lam=0.5 --seeds 0,1,2

      attnx evaluate --task sdc-error-mode-1 --metric focus --seeds 0-9 --json

      attnx evaluate --task rotten-tomatoes --explanation lime --target negative
    """
    from ..api.evaluate import evaluate_spec
    from ..api.own_methods import methods_given
    from ..request.arguments import Arguments
    from ..request.parsing import read_request
    from ..run.workers.dask_cluster import Trust
    from ..run.workers.executors import choose_run_workers

    own = Arguments(installed_catalog())
    asked = {
        "task": task,
        "model": model,
        "projection": projection,
        "explanations": own.choices("importance", methods_given(explanation)),
        "references": reference,
        "metrics": metric,
        "target": target,
        "versus": versus,
        "seeds": seeds,
        "limit": limit,
        "training": train,
        "sample": sample,
        "device": device,
    }
    from ..results.requirements import Requirement

    for text in require or ():  # refused before any training
        Requirement.parse(text)
    request = read_request({key: value for key, value in asked.items() if value not in (None, [], ())}, spec)
    try:
        outcome = prints_aside(evaluate_spec)(
            request,
            own.catalog,
            own.objects,
            data_dir=data_dir,
            out=out,
            fresh=fresh,
            keep=keep,
            workers=choose_run_workers(
                executor, workers, scheduler, Trust(tls_ca, tls_cert, tls_key, insecure)
            ),
        )
    except NotStored as lost:
        _show(lost.report, json)
        raise
    _show(outcome.report, json)
    if not json:
        _say_where(outcome.folder, stored=outcome.stored)
    outcome.report.require(*(require or ()))


def _say_where(folder: Path | None, *, stored: bool) -> None:
    if folder is None:
        print("not saved: a function of your own has no stable name; to save it, give --out", file=sys.stderr)
        return
    state = "report (stored before, nothing computed)" if stored else "report"
    print(f"{state}: {folder}/report.html", file=sys.stderr)


def _show(report: Any, json: bool) -> None:
    if json:
        sys.stdout.write(report.to_json())
        return

    from ..views.terminal.report import print_report, print_warnings

    print_report(report)
    print_warnings(report.warnings)
