"""`attnx planted`: which explanations find a trigger that the model is known to use."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import CheckFailed, NotStored
from .completion import names_of
from .global_options import installed_catalog
from .options import (
    DataDir,
    Device,
    Json,
    Limit,
    Model,
    Projection,
    Sample,
    Seeds,
    Train,
    registry_default,
)
from .plugin_output import prints_aside


def planted(
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Task of texts, e.g. csv:file=reviews.csv.  [default: rotten-tomatoes]",
            autocompletion=names_of("task"),
        ),
    ] = None,
    model: Model = None,
    kind: Annotated[
        str,
        typer.Option(
            metavar="single|paired|ordered",
            help="What decides: a word; two words, only together; or which of two words comes first.",
        ),
    ] = "single",
    share: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of training texts in which the trigger decides.")
    ] = 0.3,
    words: Annotated[
        str,
        typer.Option(
            metavar="WORD,...",
            help="Trigger words of your own, in the order of the labels: one for each, two each for paired.  "
            "[default: drawn from the texts]",
        ),
    ] = "",
    triggers: Annotated[
        int, typer.Option(metavar="N", help="Number of triggers, each with models of its own.")
    ] = 1,
    explanation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Importance method to test (repeatable).  "
            f"[default: those available of {registry_default('planted')}]",
            autocompletion=names_of("importance"),
        ),
    ] = None,
    removal: Annotated[
        bool,
        typer.Option(
            "--removal/--no-removal",
            help="Show the removal test of 'attnx evaluate' next to it, which costs much more.",
        ),
    ] = True,
    projection: Projection = None,
    seeds: Seeds = None,
    limit: Limit = None,
    train: Train = None,
    sample: Sample = None,
    data_dir: DataDir = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the report is stored.  [default: planted in ATTNX_HOME]"),
    ] = None,
    json: Json = False,
    device: Device = None,
) -> None:
    """Plant a shortcut in your texts and see which explanations find it.

    Trigger words that decide the label are put into a share of the training texts, and the model is
    trained on them. If it verifiably uses the trigger on held-out texts, it is known what a right
    explanation shows: the trigger words. If it does not, nothing is reported, and the exit code is 1.

    Each trigger and seed is trained once and its weights are stored; an interrupted test goes on where
    it was. Expect one training run and one evaluation for every trigger and seed.

    Examples:

      attnx planted --task rotten-tomatoes --model bilstm-add --seeds 0-2

      attnx planted --task csv:file=reviews.csv --model minilm-frozen-add --kind paired --triggers 3
    """
    from ..api.planted import planted_spec
    from ..request.parsing import read_request

    asked = {
        "task": task,
        "model": model,
        "projection": projection,
        "explanations": explanation,
        "seeds": seeds,
        "limit": limit,
        "training": train,
        "sample": sample,
        "device": device,
    }
    request = read_request({key: value for key, value in asked.items() if value not in (None, [])}, None)
    given = tuple(word.strip() for word in words.split(",")) if words else ()
    settings = {"kind": kind, "share": share, "words": given}
    try:
        report, folder = prints_aside(planted_spec)(
            request,
            settings,
            installed_catalog(),
            triggers=triggers,
            removal=removal,
            data_dir=data_dir,
            out=out,
        )
    except NotStored as lost:
        _show(lost.report, json)
        raise
    _show(report, json)
    if not json:
        print(f"report: {folder}/planted.html", file=sys.stderr)
    if not report.verified:
        raise CheckFailed("No model verifiably uses the planted trigger, so nothing is reported.")


def _show(report: Any, json: bool) -> None:
    if json:
        sys.stdout.write(report.to_json())
        return

    from ..views.terminal.planted import print_planted
    from ..views.terminal.report import print_warnings

    print_planted(report)
    print_warnings(report.warnings)
