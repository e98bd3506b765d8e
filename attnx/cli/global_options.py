"""The options of every command, before or after its name: --debug and --without.

`attnx --debug list` and `attnx list --debug` mean the same. What --without names is missing from the catalog.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typer.core import TyperOption

from .plugin_output import prints_aside

if TYPE_CHECKING:
    from ..host.catalog import Catalog

switched_off: list[str] = []  # plugins named by --without
_shown: dict[str, bool] = {"debug": False}


def reset() -> None:
    """Forget the options of an earlier command in the same process."""
    switched_off.clear()
    _shown["debug"] = False


def installed_catalog() -> "Catalog":
    """The installed components without those that are switched off; each broken plugin is one warning."""
    from ..api.setup import installed_here

    return prints_aside(installed_here)(switched_off)


def debug() -> bool:
    """Whether --debug was given."""
    return _shown["debug"]


def add_global_options(command: Any) -> Any:
    """Add --debug and --without to a command and to all commands below it."""
    command.params += [
        TyperOption(
            param_decls=["--without"],
            metavar="PLUGIN",
            multiple=True,
            expose_value=False,
            callback=_switch_off,
            help="Switch off a plugin (repeatable). The variable ATTNX_WITHOUT=a,b does the same.",
        ),
        TyperOption(
            param_decls=["--debug"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_show_tracebacks,
            help="Show the full traceback of an error.",
        ),
    ]
    for inner in getattr(command, "commands", {}).values():
        add_global_options(inner)
    return command


def _switch_off(_context: Any, _option: Any, names: Sequence[str] | None) -> None:
    switched_off.extend(name for name in names or () if name not in switched_off)


def _show_tracebacks(_context: Any, _option: Any, given: bool | None) -> None:
    _shown["debug"] = _shown["debug"] or bool(given)
