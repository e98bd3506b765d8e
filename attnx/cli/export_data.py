"""`attnx data export`: the units and ids of a task, for scores that are computed elsewhere."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..disk import write_file
from ..errors import UsageError
from .catalog import installed_catalog
from .options import DataDir, Limit


def export(
    task: Annotated[str, typer.Argument(help="A task with its options, as for --task.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="A file.  [default: standard output]")] = None,
    split: Annotated[str, typer.Option(metavar="train|dev|test|all", help="Which examples.")] = "all",
    limit: Limit = None,
    data_dir: DataDir = None,
) -> None:
    """Write the examples of a task as JSON lines: id, split, units, label, query and rationale.

    Scores computed elsewhere fit a run when they give one number for each of these units under the same id:
    --explanation precomputed:file=SCORES reads lines of {"id": ..., "scores": [...]}.

    Example:

      attnx data export imdb --split test --out units.jsonl
    """
    from ..api.load import task_data
    from ..request.spec import Choice
    from ..request.spec import Limit as Limits

    splits = ("train", "dev", "test")
    if split not in (*splits, "all"):
        raise UsageError(f"Unknown split '{split}': give {', '.join(splits)} or all.")
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
    print(f"{len(lines)} examples: {out}", file=sys.stderr)
