"""`attnx audit`: how often metrics are wrong where the right answer is known."""

import sys
from typing import Annotated

import typer

from .completion import names_of
from .global_options import installed_catalog
from .options import Device, Json
from .plugin_output import prints_aside


def audit(
    metric: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METRIC]...",
            help="Metrics; options follow as NAME:key=value.  [default: all that apply]",
            autocompletion=names_of("metric"),
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Task whose important words are known (repeatable).  [default: the planted tasks]",
            autocompletion=names_of("task"),
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="SEEDS", help="Training seeds, e.g. 0,1,2 or 0-9.  [default: 0-2]"),
    ] = None,
    registry: Annotated[
        bool, typer.Option("--registry", help="Print the result as a section of registry.yaml.")
    ] = False,
    json: Json = False,
    device: Device = None,
) -> None:
    """Test metrics where the right answer is known.

    How often does a metric prefer the wrong explanation? Models are trained on texts with planted words
    that decide the label, and checked to use these words. Each metric then scores explanations that are
    right, partly right, uninformative and wrong, and models trained to have misleading attention.

    Examples:

      attnx audit comprehensiveness kendall

      attnx audit --task planted-pronouns --seeds 0-4 --json
    """
    from ..api.audit import audit_metrics
    from ..request.parsing import parse_seeds

    report = prints_aside(audit_metrics)(
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
