"""`attnx runs`: what was kept, in brief, and clearing it away."""

import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from ..escaping import printable
from .completion import kept_names
from .options import Out

runs_app = typer.Typer(
    help="List finished runs and studies, newest first, with their verdicts; show and delete them.",
    invoke_without_command=True,
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted, and delete nothing.")]
OlderThan = Annotated[str | None, typer.Option(metavar="AGE", help="Only what is older, as 12h, 30d or 8w.")]


@runs_app.callback(epilog="Examples: attnx runs; attnx runs --json; attnx runs prune --keep 100 --dry-run")
def _list(
    context: typer.Context,
    last: Annotated[int | None, typer.Option(min=0, help="The N newest; 0: all.  [default: 50]")] = None,
    json: AsJson = False,
    out: Out = None,
) -> None:
    context.obj = out
    if context.invoked_subcommand is not None:
        return

    from ..store.run_list import lines
    from ..store.saved_reports import roots
    from ..views.terminal.runs import lines_json, print_runs

    found = [line for _, line in lines(out)]
    if json:
        sys.stdout.write(lines_json(found[: last or None]))
    else:
        print_runs(found, 50 if last is None else last, " and ".join(map(str, roots(out))))


@runs_app.command(epilog="Example: attnx runs show 55e8")
def show(
    context: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A name or its beginning.", autocompletion=kept_names)
    ],
    json: AsJson = False,
    out: Out = None,
) -> None:
    """Print the report of a run or study as it was printed when it was made."""
    from ..results.study import StudyReport
    from ..store.saved_reports import take
    from ..views.terminal.report import print_report, print_study, print_warnings

    kept = take(run, out or context.obj)
    assert kept.report is not None  # or it would not have been taken
    if json:
        sys.stdout.write(kept.report.to_json())
        return
    if isinstance(kept.report, StudyReport):
        print_study(kept.report)
    else:
        print_report(kept.report)
        print_warnings(kept.report.warnings)
    print(f"in {printable(str(kept.folder))}", file=sys.stderr)


@runs_app.command(epilog="Example: attnx runs delete 55e8 b0c1")
def delete(
    context: typer.Context,
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Names or beginnings.", autocompletion=kept_names)
    ],
    dry_run: DryRun = False,
    out: Out = None,
) -> None:
    """Delete runs and studies with their examples and pages; where one name is wrong, none."""
    from ..store.saved_reports import find_folder

    _delete(dict.fromkeys(find_folder(name, out or context.obj) for name in runs), dry_run)


@runs_app.command(epilog="Example: attnx runs prune --older-than 30d --keep 100 --dry-run")
def prune(
    context: typer.Context,
    older_than: OlderThan = None,
    keep: Annotated[int | None, typer.Option(min=0, help="Keep the N newest.")] = None,
    dry_run: DryRun = False,
    out: Out = None,
) -> None:
    """Delete runs and studies that are older, or beyond the newest N; with both, those that are both.

    Checkpoints in ATTNX_HOME go too: those that are older, or, without an age, older than a day.
    """
    from ..store.pruning import old_checkpoints, parse_age, to_prune
    from ..store.run_list import lines

    age, now, folder = (
        None if older_than is None else parse_age(older_than),
        datetime.now(),
        out or context.obj,
    )
    found = to_prune(lines(folder), age, keep, now)
    _delete(dict.fromkeys([*found, *(old_checkpoints(age, now) if folder is None else ())]), dry_run)


@runs_app.command(epilog="Example: attnx runs weights --prune --dry-run")
def weights(
    prune: Annotated[bool, typer.Option("--prune", help="Delete those that no run names.")] = False,
    older_than: OlderThan = None,
    dry_run: DryRun = False,
    json: AsJson = False,
) -> None:
    """List trained weights and the runs that name them, or delete those that no run names.

    Only runs in ATTNX_HOME are looked at. A study names no weights, nor does a run that cannot be read:
    what they need again is trained again.
    """
    from ..store.pruning import list_weights, parse_age
    from ..store.run_list import lines
    from ..views.terminal.runs import print_weights, weights_json

    age = timedelta(0) if older_than is None else parse_age(older_than)
    listed = lines()
    found = [one for one in list_weights(listed) if datetime.now() - one.written >= age]
    if prune:
        odd = sum(line.kind == "unreadable" for _, line in listed)
        if odd:
            print(f"warning: {odd} runs cannot be read, and count as naming no weights", file=sys.stderr)
        _delete([one.folder for one in found if not one.runs], dry_run)
        return
    rows = [(one.folder.name, one.written, one.size, one.runs) for one in found]
    if json:
        sys.stdout.write(weights_json(rows))
    else:
        print_weights(rows)


def _delete(folders: "dict[Path, None] | list[Path]", dry_run: bool) -> None:
    from ..disk import delete_folder

    for folder in folders:
        if not dry_run:
            delete_folder(folder)
        print(printable(f"{'would delete' if dry_run else 'deleted'} {folder}"))
    if not folders:
        print("nothing to delete")
