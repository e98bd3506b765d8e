"""Stored runs, studies and weights: list, show, publish and delete them.

`attnx.runs.list` is `attnx runs` in Python; `show`, `delete`, `prune`, `weights` and `kept` are its
subcommands; `view` is `attnx view` and `export` is `attnx export`. `attnx.load` gives a run with its model.
"""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from .api.export import export
from .api.setup import installed_here
from .disk import delete_folder
from .errors import UsageError
from .results.overview import KeptFiles, StoredRun, StoredWeights

if TYPE_CHECKING:
    from .api.arguments import Names
    from .results import Report, StudyReport

__all__ = [  # noqa: RUF022 - functions first
    "list",
    "folders",
    "show",
    "view",
    "export",
    "delete",
    "prune",
    "weights",
    "kept",
    "KeptFiles",
    "StoredRun",
    "StoredWeights",
]


def list(*, last: int | None = None, out: str | Path | None = None) -> tuple[StoredRun, ...]:
    """List stored runs and studies, newest first.

    Args:
        last: how many of the newest are listed; by default all.
        out: the folder of runs; by default `runs` and `studies` in ATTNX_HOME.

    Returns:
        One entry per run or study; one that cannot be read has the kind "unreadable" and a `reason`.

    Raises:
        UsageError: `last` is negative.
    """
    if last is not None and last < 0:
        raise UsageError(f"'last' is {last}, but it must be 0 or more.")

    from .store.run_list import list_runs

    return tuple(list_runs(_folder(out))[:last])


def folders(*, out: str | Path | None = None) -> tuple[Path, ...]:
    """Say where runs and studies are stored: `out`, or `runs` and `studies` in ATTNX_HOME.

    Args:
        out: the folder of runs.

    Returns:
        The folders.
    """
    from .store.saved_reports import roots

    return tuple(roots(_folder(out)))


def show(run: str | Path, *, out: str | Path | None = None) -> Report | StudyReport:
    """Read the report of a run or study again.

    Args:
        run: its name, the first characters of its name, or its folder.
        out: the folder of runs; by default `runs` and `studies` in ATTNX_HOME.

    Returns:
        The report, with the `folder` in which it is stored.

    Raises:
        UsageError: there is no such run or study, or several begin with these characters.
        DataError: the report is damaged, edited, or from another version.
    """
    from .store.saved_reports import load_saved

    return load_saved(str(run), _folder(out))


def view(
    run: str | Path | None = None,
    *,
    out: str | Path | None = None,
    open: bool = False,
    without: Names = (),
) -> Path:
    """Find the page of a run or study, or make the index of all; pages that are missing are written.

    Args:
        run: its name, the first characters of its name, or its folder; by default all, with an index.
        out: the folder of runs; by default `runs` and `studies` in ATTNX_HOME.
        open: whether the page is opened in a browser.
        without: plugins that draw nothing on new pages, one name or several.

    Returns:
        The HTML file.

    Raises:
        UsageError: there is no such run or study, or several begin with these characters.
        DataError: the report is damaged, edited, or from another version.
    """
    from .store.home import home
    from .store.saved_reports import page_of, saved_reports, write_index

    if run is None:
        page = (_folder(out) or home()) / "index.html"
        write_index([*saved_reports(_folder(out))], page, installed_here(without))
    else:
        page = page_of(show(run, out=out), lambda: installed_here(without))
    if open:
        webbrowser.open(page.resolve().as_uri())
    return page


def delete(*runs: str | Path, dry_run: bool = False, out: str | Path | None = None) -> tuple[Path, ...]:
    """Delete runs and studies with their examples and pages; if one name is wrong, delete nothing.

    Args:
        *runs: names, first characters of names, or folders.
        dry_run: whether nothing is deleted.
        out: the folder of runs; by default `runs` and `studies` in ATTNX_HOME.

    Returns:
        The folders that were deleted, or would be.

    Raises:
        UsageError: there is no such run or study, or several begin with these characters.
    """
    from .store.saved_reports import find_folder

    return _delete([find_folder(str(name), _folder(out)) for name in runs], dry_run)


def prune(
    *,
    older_than: str | timedelta | None = None,
    keep: int | None = None,
    dry_run: bool = False,
    out: str | Path | None = None,
) -> tuple[Path, ...]:
    """Delete old runs and studies.

    With both `older_than` and `keep`, only what is older and not among the newest is deleted. Checkpoints of
    interrupted training in ATTNX_HOME are deleted too if they are older than that; without an age, those
    older than a day.

    Args:
        older_than: an age, e.g. "12h", "30d", "8w" or a timedelta.
        keep: how many of the newest stay.
        dry_run: whether nothing is deleted.
        out: the folder of runs; by default `runs` and `studies` in ATTNX_HOME, and checkpoints.

    Returns:
        The folders that were deleted, or would be.

    Raises:
        UsageError: neither an age nor a number is given, or the age cannot be read.
    """
    from .store.pruning import old_checkpoints, read_age, to_prune
    from .store.run_list import list_runs

    age, now = None if older_than is None else read_age(older_than), datetime.now()
    found = to_prune(list_runs(_folder(out), cached=False), age, keep, now)
    return _delete([*found, *(() if out else old_checkpoints(age, now))], dry_run)


def weights(
    *, prune: bool = False, older_than: str | timedelta | None = None, dry_run: bool = False
) -> tuple[StoredWeights, ...]:
    """List trained weights in ATTNX_HOME, or delete those that no stored run uses.

    Only readable runs in ATTNX_HOME count. Studies and unreadable runs train again if they need weights.

    Args:
        prune: whether unused weights are deleted.
        older_than: only weights of at least this age, e.g. "30d" or a timedelta.
        dry_run: whether nothing is deleted.

    Returns:
        All weights, newest first; with `prune`, those that were deleted, or would be.

    Raises:
        UsageError: the age cannot be read.
    """
    from .store.pruning import choose_weights, read_age
    from .store.run_list import list_runs

    age = timedelta(0) if older_than is None else read_age(older_than)
    found = choose_weights(list_runs(cached=False), age, unused=prune)
    if prune:
        _delete([one.folder for one in found], dry_run)
    return found


def kept(
    *, delete: bool = False, older_than: str | timedelta | None = None, dry_run: bool = False
) -> tuple[KeptFiles, ...]:
    """List, or delete, importances and hidden states that are kept; they are computed again when needed.

    Args:
        delete: whether they are deleted.
        older_than: only files that were last used at least so long ago, e.g. "30d" or a timedelta.
        dry_run: whether nothing is deleted.

    Returns:
        Each kind with its files and bytes; with `delete`, of those that were deleted, or would be.

    Raises:
        UsageError: the age cannot be read.
    """
    from .store.kept_tensors import kept_files
    from .store.pruning import read_age

    age = timedelta(0) if older_than is None else read_age(older_than)
    return kept_files(age, delete=delete and not dry_run)


def _folder(out: str | Path | None) -> Path | None:
    return Path(out) if out else None


def _delete(found: Sequence[Path], dry_run: bool) -> tuple[Path, ...]:
    for folder in () if dry_run else dict.fromkeys(found):
        delete_folder(folder)
    return tuple(dict.fromkeys(found))
