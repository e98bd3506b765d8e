"""`attnx study`: an experiment that trains several models."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import NotStored
from .completion import names_of
from .global_options import installed_catalog
from .options import DataDir, Device, Json, Limit, Model, Projection, Seeds, Task, Train
from .plugin_output import prints_aside


def study(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Study (see 'attnx list studies'); options follow as NAME:key=value.",
            autocompletion=names_of("study"),
        ),
    ],
    task: Task = None,
    model: Model = None,
    projection: Projection = None,
    seeds: Seeds = None,
    limit: Limit = None,
    train: Train = None,
    data_dir: DataDir = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where studies are stored.  [default: studies in ATTNX_HOME]"),
    ] = None,
    json: Json = False,
    device: Device = None,
) -> None:
    """Run a study, which trains several models per seed.

    Expect two or more training runs per seed, each as long as in `attnx evaluate`. Stored weights are
    reused.

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
        report, folder = prints_aside(study_spec)(
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

    from ..views.terminal.report import print_study, print_warnings

    print_study(report)
    print_warnings(report.warnings)
