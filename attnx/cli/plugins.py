"""`attnx plugins`: the installed plugins."""

from ..escaping import printable
from .catalog import installed_catalog


def plugins() -> None:
    """List the installed plugins, with errors of broken ones."""
    from ..views.terminal.components import plugin_table

    print(printable(plugin_table(installed_catalog()), lines=True))
