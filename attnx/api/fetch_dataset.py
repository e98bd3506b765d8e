"""`attnx.fetch_dataset`: a dataset of the registry, as a folder on this machine."""

from __future__ import annotations

from pathlib import Path

from ..progress import Progress
from .setup import find_source, installed_here


def fetch_dataset(name: str) -> Path:
    """Give the folder of a dataset, and fetch the dataset first if it is not on this machine.

    Args:
        name: the name of the dataset, as `attnx data list` shows it.

    Returns:
        The folder with its files.

    Raises:
        UsageError: the registry has no dataset of this name.
        DataError: the dataset could not be fetched, or its files are damaged.
    """
    return find_source(installed_here(), None, Progress()).fetch(name).folder
