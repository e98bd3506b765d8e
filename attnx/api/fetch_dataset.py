"""`attnx.fetch_dataset`: a dataset of the registry, as a folder on this machine."""

from __future__ import annotations

from pathlib import Path

from ..host.catalog import Catalog
from ..progress import Progress
from .setup import find_source


def fetch_dataset(name: str) -> Path:
    """The folder of a dataset of the registry, fetched when it is not on this machine yet."""
    return find_source(Catalog.installed(), None, Progress()).fetch(name).folder
