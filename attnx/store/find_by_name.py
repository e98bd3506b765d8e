"""Finds the folder of a stored run or study from what a person typed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import UsageError, did_you_mean, did_you_mean_path


def find_by_name(name: str, known: Iterable[Path], what: str, where: Path) -> Path:
    """The one folder of that name, or whose name starts with it; an error names the nearest one.

    `what` and `where` are words of the error: what is looked for, and the folder it was expected in.
    """
    folders = sorted(set(known))
    exact = [folder for folder in folders if folder.name == name]
    found = exact or [folder for folder in folders if name and folder.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(folder.name for folder in found[:5])
        more = ", ..." if len(found) > 5 else ""
        raise UsageError(f"'{name}' matches {len(found)} names: {names}{more}. Type more characters.")
    is_path = len(Path(name).parts) > 1
    hint = did_you_mean_path(name, folder=True) if is_path else did_you_mean(name, [f.name for f in folders])
    raise UsageError(f"No {what} '{name}' in '{where}'.{hint} See 'attnx runs' for all names.")
