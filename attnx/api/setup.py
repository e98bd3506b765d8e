"""What every function of the API starts from: the installed components, and where data is found."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from ..errors import AttnxWarning, NotStored
from ..host.catalog import Catalog
from ..progress import Progress

if TYPE_CHECKING:
    from ..data.access import Source
    from .arguments import Names

R = TypeVar("R")


def computed(work: Callable[[], R]) -> R:
    """Give the report that this computes; if it could not be stored, warn and give it all the same."""
    try:
        return work()
    except NotStored as lost:
        warnings.warn(str(lost), AttnxWarning, stacklevel=3)
        return cast("R", lost.report)


def installed_here(without: Names = ()) -> Catalog:
    """Find the installed components, except those of plugins to switch off; warn of broken plugins."""
    catalog = Catalog.installed((without,) if isinstance(without, str) else without)
    for text in catalog.warnings:
        warnings.warn(text, AttnxWarning, stacklevel=3)
    return catalog


def find_source(catalog: Catalog, data_dir: str | Path | None, progress: Progress) -> Source:
    """Say where tasks find their files: the user's folder or the one ATTNX_DATA names, and the cache."""
    from ..data.access import Source
    from ..store.home import home

    local = Path(data_dir) if data_dir else None
    registry = catalog.registry
    return Source.configured(registry.datasets, home() / "data", local, progress, registry.defaults.task)
