"""`attnx data export`: the examples of a task as JSON lines, to compute scores elsewhere."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..disk import write_file
from ..errors import UsageError, did_you_mean
from .catalog import installed_catalog
from .options import DataDir, Limit


def export(
    task: Annotated[
        str,
        typer.Argument(metavar="TASK", help="A task; options follow as NAME:key=value.", show_default=False),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write.  [default: standard output]")
    ] = None,
    split: Annotated[str, typer.Option(metavar="train|dev|test|all", help="Which split.")] = "all",
    limit: Limit = None,
    data_dir: DataDir = None,
) -> None:
    """Write the examples of a task as JSON lines.

    Each line has id, split, units (words, or image patches), label, and query and rationale if the task has
    them. To test scores of your own, compute one number per unit, write lines {"id": ..., "scores": [...]}
    and pass the file with --explanation precomputed:file=SCORES.

    Example:

      attnx data export imdb --split test --out units.jsonl
    """
    from ..api.load import task_data
    from ..request.spec import Choice
    from ..request.spec import Limit as Limits

    splits = ("train", "dev", "test")
    if split not in (*splits, "all"):
        raise UsageError(
            f"Unknown split '{split}'.{did_you_mean(split, splits)} Available: {', '.join(splits)}, all."
        )
    limits = Limits() if limit is None else Limits.parse(limit)
    data = task_data(Choice.parse(task), installed_catalog(), limits, data_dir=data_dir)
    lines = []
    for name in splits if split == "all" else (split,):
        for example in getattr(data, name):
            line = {"id": example.id, "split": name, "units": example.units}
            line |= {"label": data.label_names[example.label]}
            line |= {} if example.query is None else {"query": example.query}
            line |= {} if example.rationale is None else {"rationale": [int(m) for m in example.rationale]}
            lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    if out is None:
        sys.stdout.writelines(lines)
        return
    try:
        write_file(out, "".join(lines))
    except OSError as error:
        raise UsageError(f"Cannot write '{out}': {error.strerror}.") from error
    print(f"{len(lines)} examples written: {out}", file=sys.stderr)
