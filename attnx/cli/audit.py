"""`attnx audit`: metrics held to cases whose answer is known."""

import sys
from typing import Annotated

import typer

from .catalog import installed_catalog
from .completion import names_of
from .options import Device, Json


def audit(
    metric: Annotated[
        list[str] | None,
        typer.Argument(
            help="Metrics, with their options as NAME:key=value.  [default: all that apply]",
            autocompletion=names_of("metric"),
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            help="Task whose deciding units are known (repeatable).  [default: those of the registry]",
            autocompletion=names_of("task"),
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Training seeds, as 0,1,2 or 0-9.  [default: 0-2]")
    ] = None,
    registry: Annotated[
        bool, typer.Option("--registry", help="Print the section of a registry that keeps the result.")
    ] = False,
    json: Json = False,
    device: Device = None,
) -> None:
    """Hold metrics to cases whose answer is known: how often do they prefer what is wrong?

    Models are trained on texts whose deciding words are planted, and verified to use them. Then every
    metric is asked about explanations that are right, partly right, uninformative and wrong, and about
    models whose attention was taught to lie.

    Examples:

      attnx audit comprehensiveness kendall

      attnx audit --task planted-pronouns --seeds 0-4 --json
    """
    from ..api.audit import audit_metrics
    from ..request.parsing import parse_seeds

    report = audit_metrics(
        metric or (),
        installed_catalog(),
        tasks=task or (),
        seeds=parse_seeds(seeds or "0-2"),
        device=device or "auto",
    )
    if json or registry:
        sys.stdout.write(report.to_json() if json else report.registry())
        return

    from ..views.terminal.audit import print_audit

    print_audit(report)
