"""`attnx runs`: list, show and delete stored runs, studies and weights."""

import sys
import warnings
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from ..errors import AttnxWarning
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

    from ..store.run_list import list_runs
    from ..store.saved_reports import roots
    from ..views.terminal.runs import lines_json, print_runs

    found = [line for _, line in list_runs(out)]
    if json:
        sys.stdout.write(lines_json(found[: last or None]))
    else:
        print_runs(found, 50 if last is None else last, " and ".join(map(str, roots(out))))


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
    from ..results.study import StudyReport
    from ..store.saved_reports import load_saved
    from ..views.terminal.report import print_report, print_study, print_warnings

    saved = load_saved(run, out or context.obj)
    assert saved.report is not None  # load_saved refuses an unreadable one
    if json:
        sys.stdout.write(saved.report.to_json())
        return
    if isinstance(saved.report, StudyReport):
        print_study(saved.report)
    else:
        print_report(saved.report)
    print_warnings(saved.report.warnings)
    print(f"folder: {printable(str(saved.folder))}", file=sys.stderr)


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
    from ..store.saved_reports import find_folder

    _delete(dict.fromkeys(find_folder(name, out or context.obj) for name in runs), dry_run)


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
    from ..store.pruning import old_checkpoints, parse_age, to_prune
    from ..store.run_list import list_runs

    age, now, folder = (
        None if older_than is None else parse_age(older_than),
        datetime.now(),
        out or context.obj,
    )
    found = to_prune(list_runs(folder), age, keep, now)
    _delete(dict.fromkeys([*found, *(old_checkpoints(age, now) if folder is None else ())]), dry_run)


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
    from ..store.pruning import list_weights, parse_age
    from ..store.run_list import list_runs
    from ..views.terminal.runs import print_weights, weights_json

    age = timedelta(0) if older_than is None else parse_age(older_than)
    listed = list_runs()
    found = [one for one in list_weights(listed) if datetime.now() - one.written >= age]
    if prune:
        unreadable = sum(line.kind == "unreadable" for _, line in listed)
        if unreadable:
            text = f"{unreadable} stored reports cannot be read; weights that only they use are deleted."
            warnings.warn(text, AttnxWarning, stacklevel=2)
        _delete([one.folder for one in found if not one.runs], dry_run)
        return
    rows = [(one.folder.name, one.written, one.size, one.runs) for one in found]
    if json:
        sys.stdout.write(weights_json(rows))
    else:
        print_weights(rows)


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
    from ..store.kept_tensors import ROOMS, list_kept
    from ..store.pruning import parse_age
    from ..views.terminal.runs import kept_json, print_kept

    age, now = timedelta(0) if older_than is None else parse_age(older_than), datetime.now()
    found = {room: [one for one in list_kept(room) if now - one.used >= age] for room in ROOMS}
    if delete:
        _delete_files([one.path for files in found.values() for one in files], dry_run)
        return
    rows = [(room, len(files), sum(one.size for one in files)) for room, files in found.items()]
    if json:
        sys.stdout.write(kept_json(rows))
    else:
        print_kept(rows)


def _delete_files(files: "list[Path]", dry_run: bool) -> None:
    size = sum(file.stat().st_size for file in files)
    for file in () if dry_run else files:
        file.unlink(missing_ok=True)
    done = "would delete" if dry_run else "deleted"
    print(f"{done} {len(files)} files, {size / 1e6:.1f} MB" if files else "Nothing to delete.")


def _delete(folders: "dict[Path, None] | list[Path]", dry_run: bool) -> None:
    from ..disk import delete_folder

    for folder in folders:
        if not dry_run:
            delete_folder(folder)
        print(printable(f"{'would delete' if dry_run else 'deleted'} {folder}"))
    if not folders:
        print("Nothing to delete.")
