"""The installed components as the command line sees them."""

import sys
from typing import TYPE_CHECKING

from ..escaping import printable

if TYPE_CHECKING:
    from ..host.catalog import Catalog

switched_off: list[str] = []  # by --without


def installed_catalog() -> "Catalog":
    """The installed components; what is broken and not asked for is one line each."""
    from ..host.catalog import Catalog

    catalog = Catalog.installed(switched_off)
    for warning in catalog.warnings:
        print(f"warning: {printable(warning)}", file=sys.stderr)
    return catalog
