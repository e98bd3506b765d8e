"""The options of every command, before or after its name: --debug, --plugin and --without.

`attnx --debug list` and `attnx list --debug` mean the same. What --without names is missing from the catalog,
and the components of the file that --plugin names are added to it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typer.core import TyperOption

from ..host.plugin_files import forget_files, use_files, used_files
from .plugin_output import prints_aside

if TYPE_CHECKING:
    from ..host.catalog import Catalog

switched_off: list[str] = []  # plugins named by --without
_shown: dict[str, bool] = {"debug": False}
_used_before: list[tuple[str, ...]] = []  # files that Python code had named before the command


def reset() -> None:
    """Forget the options of an earlier command in the same process."""
    switched_off.clear()
    if _used_before:
        forget_files(but=_used_before.pop())
    _shown["debug"] = False


def installed_catalog() -> "Catalog":
    """The installed components without those that are switched off; each broken plugin is one warning."""
    from ..api.setup import installed_here

    return prints_aside(installed_here)(switched_off)


def debug() -> bool:
    """Whether --debug was given."""
    return _shown["debug"]


def add_global_options(command: Any) -> Any:
    """Add --debug, --plugin and --without to a command and to all commands below it."""
    command.params += [
        TyperOption(
            param_decls=["--plugin"],
            metavar="FILE",
            multiple=True,
            expose_value=False,
            is_eager=True,
            callback=_use,
            help="Add the components of a Python file (repeatable). The variable ATTNX_PLUGINS lists folders "
            "of such files.",
        ),
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


def _use(_context: Any, _option: Any, files: Sequence[str] | None) -> None:
    if files and not _used_before:
        _used_before.append(used_files())
    use_files(files or ())


def _show_tracebacks(_context: Any, _option: Any, given: bool | None) -> None:
    _shown["debug"] = _shown["debug"] or bool(given)
