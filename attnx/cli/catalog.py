"""The installed components, for a command; broken plugins are warnings."""

import warnings
from typing import TYPE_CHECKING

from ..errors import AttnxWarning
from .global_options import switched_off
from .plugin_output import prints_aside

if TYPE_CHECKING:
    from ..host.catalog import Catalog

__all__ = ["installed_catalog", "switched_off"]


def installed_catalog() -> "Catalog":
    """The installed components; each broken one that was not asked for is one warning."""
    from ..host.catalog import Catalog

    catalog = prints_aside(Catalog.installed)(switched_off)
    for text in catalog.warnings:
        warnings.warn(text, AttnxWarning, stacklevel=2)
    return catalog
