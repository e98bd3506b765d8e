"""`attnx runs`: list, show and delete stored runs, studies and weights."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ..escaping import printable
from .completion import saved_names
from .options import Out

runs_app = typer.Typer(
    help="List, show and delete stored runs and studies.",
    invoke_without_command=True,
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List what would be deleted; delete nothing.")]
OlderThan = Annotated[
    str | None, typer.Option(metavar="AGE", help="Only those older than AGE, e.g. 12h, 30d or 8w.")
]


@runs_app.callback(epilog="Examples: attnx runs; attnx runs --json; attnx runs prune --keep 100 --dry-run")
def _list(
    context: typer.Context,
    last: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Show the N newest; 0: all.  [default: 50]")
    ] = None,
    json: AsJson = False,
    out: Out = None,
) -> None:
    context.obj = out
    if context.invoked_subcommand is not None:
        return

    from .. import runs
    from ..views.terminal.runs import lines_json, print_runs

    if json:
        sys.stdout.write(lines_json(runs.list(last=last or None, out=out)))
    else:
        where = " and ".join(map(str, runs.folders(out=out)))
        print_runs(runs.list(out=out), 50 if last is None else last, where)


@runs_app.command(epilog="Example: attnx runs show 55e8")
def show(
    context: typer.Context,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Name of a run or study, or its first characters.", autocompletion=saved_names
        ),
    ],
    json: AsJson = False,
    out: Out = None,
) -> None:
    """Print the report of a run or study."""
    from .. import runs
    from ..results.study import StudyReport
    from ..views.terminal.report import print_report, print_study, print_warnings

    report = runs.show(run, out=out or context.obj)
    if json:
        sys.stdout.write(report.to_json())
        return
    print_study(report) if isinstance(report, StudyReport) else print_report(report)
    print_warnings(report.warnings)
    print(f"folder: {printable(str(report.folder))}", file=sys.stderr)


@runs_app.command(epilog="Example: attnx runs delete 55e8 b0c1")
def delete(
    context: typer.Context,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Names of runs or studies, or their first characters.",
            autocompletion=saved_names,
        ),
    ],
    dry_run: DryRun = False,
    out: Out = None,
) -> None:
    """Delete runs and studies.

    Their examples and pages are deleted too. If one of the names is wrong, nothing is deleted.
    """
    from ..runs import delete

    _print_deleted(delete(*runs, dry_run=dry_run, out=out or context.obj), dry_run)


@runs_app.command(epilog="Example: attnx runs prune --older-than 30d --keep 100 --dry-run")
def prune(
    context: typer.Context,
    older_than: OlderThan = None,
    keep: Annotated[int | None, typer.Option(metavar="N", min=0, help="Keep the N newest.")] = None,
    dry_run: DryRun = False,
    out: Out = None,
) -> None:
    """Delete old runs and studies.

    With both options, a run is deleted only if it is older than AGE and not among the N newest. Checkpoints
    in ATTNX_HOME older than AGE are deleted too; without --older-than, those older than a day.
    """
    from .. import runs

    found = runs.prune(older_than=older_than, keep=keep, dry_run=dry_run, out=out or context.obj)
    _print_deleted(found, dry_run)


@runs_app.command(epilog="Example: attnx runs weights --prune --dry-run")
def weights(
    prune: Annotated[bool, typer.Option("--prune", help="Delete weights that no stored run uses.")] = False,
    older_than: OlderThan = None,
    dry_run: DryRun = False,
    json: AsJson = False,
) -> None:
    """List trained weights, or delete unused ones.

    Weights count as used if a readable run in ATTNX_HOME names them. Studies and unreadable runs do not
    count: if they need their weights again, the models are trained again.
    """
    from .. import runs
    from ..views.terminal.runs import print_weights, weights_json

    found = runs.weights(prune=prune, older_than=older_than, dry_run=dry_run)
    if prune:
        _print_deleted([one.folder for one in found], dry_run)
    elif json:
        sys.stdout.write(weights_json(found))
    else:
        print_weights(found)


@runs_app.command(epilog="Examples: attnx runs kept; attnx runs kept --delete --older-than 30d")
def kept(
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is kept.")] = False,
    older_than: OlderThan = None,
    dry_run: DryRun = False,
    json: AsJson = False,
) -> None:
    """List, or delete, what is kept to be read instead of computed again.

    These are importances, and the hidden states of frozen encoders. They are deleted by themselves, those
    not used for longest first, when they are more than ATTNX_KEEP_GB (4 by default; 0 keeps nothing).
    Whatever is deleted is computed again when it is needed. AGE counts from when a file was last used.
    """
    from .. import runs
    from ..views.terminal.runs import kept_json, print_kept

    found = runs.kept(delete=delete, older_than=older_than, dry_run=dry_run)
    if delete:
        files, size = sum(one.files for one in found), sum(one.bytes for one in found)
        done = "would delete" if dry_run else "deleted"
        print(f"{done} {files} files, {size / 1e6:.1f} MB" if files else "Nothing to delete.")
    elif json:
        sys.stdout.write(kept_json(found))
    else:
        print_kept(found)


def _print_deleted(folders: Iterable[Path], dry_run: bool) -> None:
    said = [printable(f"{'would delete' if dry_run else 'deleted'} {folder}") for folder in folders]
    print("\n".join(said) or "Nothing to delete.")
