"""`attnx plugins`: the installed plugins."""

import sys

from ..escaping import printable
from .catalog import installed_catalog
from .options import Json


def plugins(json: Json = False) -> None:
    """List the installed plugins, with errors of broken ones."""
    if json:
        from ..views.components import about_plugins, to_json

        sys.stdout.write(to_json(about_plugins(installed_catalog())))
        return
    from ..views.terminal.components import plugin_table

    print(printable(plugin_table(installed_catalog()), lines=True))
