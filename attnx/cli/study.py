"""`attnx study`: a question that takes more than one trained model."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import NotStored
from .catalog import installed_catalog
from .completion import names_of
from .options import DataDir, Device, Json, Limit, Model, Projection, Seeds, Task, Train


def study(
    name: Annotated[
        str,
        typer.Argument(help="Study, with its options as NAME:key=value.", autocompletion=names_of("study")),
    ],
    task: Task = None,
    model: Model = None,
    projection: Projection = None,
    seeds: Seeds = None,
    limit: Limit = None,
    train: Train = None,
    data_dir: DataDir = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of studies.  [default: studies in ATTNX_HOME]")
    ] = None,
    json: Json = False,
    device: Device = None,
) -> None:
    """Carry out a study that trains more than one model, reusing weights that are there.

    It takes as long as its trainings: for every seed two or more, each as long as in `attnx evaluate`.

    Examples:

      attnx study uniform-attention --task sdc-2d --seeds 0-4

      attnx study adversarial-model --task imdb --model bilstm-add --limit 2000
    """
    from ..api.study import study_spec
    from ..request.parsing import read_request
    from ..request.spec import Choice

    asked = {"task": task, "model": model, "projection": projection}
    asked |= {"seeds": seeds, "limit": limit, "training": train, "device": device}
    request = read_request({key: value for key, value in asked.items() if value}, None)
    try:
        report, folder = study_spec(
            Choice.parse(name), request, installed_catalog(), data_dir=data_dir, out=out
        )
    except NotStored as lost:
        _show(lost.report, json)
        raise
    _show(report, json)
    if not json:
        print(f"study: {folder}/report.html", file=sys.stderr)


def _show(report: Any, json: bool) -> None:
    if json:
        sys.stdout.write(report.to_json())
        return

    from ..views.terminal.report import print_study

    print_study(report)
