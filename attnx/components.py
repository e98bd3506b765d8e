"""What is installed: components, named models, experiments and plugins.

`attnx.components.list` is `attnx list` in Python, `info` is `attnx info`, `plugins` is `attnx plugins`,
`experiments` is `attnx reproduce --list`, `new` is `attnx new`, and `use` is the option `--plugin`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .api.new_package import new
from .api.setup import installed_here
from .host.plugin_files import use_files
from .host.plugins import HookCall
from .views.components import (
    AuditCounts,
    ComponentInfo,
    ExperimentInfo,
    ListedName,
    MeasureInfo,
    NamedModelInfo,
    OptionInfo,
    PluginInfo,
    about,
    about_plugins,
    listed_names,
)

if TYPE_CHECKING:
    from pathlib import Path

    from .api.arguments import Names
    from .registry.experiments import Experiment

__all__ = [  # noqa: RUF022 - functions first
    "list",
    "info",
    "plugins",
    "experiments",
    "new",
    "use",
    "ListedName",
    "ComponentInfo",
    "OptionInfo",
    "MeasureInfo",
    "AuditCounts",
    "NamedModelInfo",
    "ExperimentInfo",
    "PluginInfo",
    "HookCall",
]


def list(kind: str | None = None, *, without: Names = ()) -> tuple[ListedName, ...]:
    """List the installed components, named models and experiments, with a summary of each.

    Args:
        kind: "tasks", "models", "projections", "importances", "metrics", "studies", "drawings" or
            "experiments"; by default all of them.
        without: plugins to switch off, one name or several.

    Returns:
        One entry per name, in alphabetical order within its kind.

    Raises:
        UsageError: there is no such kind, or no such plugin to switch off.
    """
    found = listed_names(installed_here(without), kind)
    return tuple(one for names in found.values() for one in names)


def info(name: str, *, without: Names = ()) -> tuple[ComponentInfo | NamedModelInfo | ExperimentInfo, ...]:
    """Describe what has this name: what it does, its options, its plugin and its source.

    No component is imported for this.

    Args:
        name: a component, a named model or an experiment.
        without: plugins to switch off, one name or several.

    Returns:
        One entry per component of this name; a name may have several, of different kinds.

    Raises:
        UsageError: nothing has this name.
        PluginError: two plugins have a component of this kind and name, or its options cannot be imported.
    """
    return tuple(about(installed_here(without), name))


def plugins(*, trace: bool = False, without: Names = ()) -> tuple[PluginInfo, ...]:
    """List the installed plugins, and why a broken one cannot be used.

    Args:
        trace: also give every import and hook: how long it took, and where it is written.
        without: plugins to leave out, one name or several.

    Returns:
        One entry per plugin, with the number of its components of each kind.

    Raises:
        UsageError: there is no such plugin to leave out.
    """
    return tuple(about_plugins(installed_here(without), trace=trace))


def experiments(*, without: Names = ()) -> dict[str, Experiment]:
    """List the tables and figures of papers that `attnx.reproduce` can run.

    Args:
        without: plugins to switch off, one name or several.

    Returns:
        The entry of the registry by the name of the experiment.

    Raises:
        UsageError: there is no such plugin to switch off.
    """
    return dict(installed_here(without).registry.experiments)


def use(*files: str | Path) -> None:
    """Add the components of Python files to those that are installed, in this process.

    A file is a plugin without a package: each class that follows a protocol of `attnx.plugin` is a component,
    called as the class in lower case with hyphens. The content of the file is part of the names of runs. The
    command line has the option --plugin for this, and ATTNX_PLUGINS lists folders of such files.

    Args:
        *files: the paths of the files.

    Raises:
        UsageError: a file does not exist, or is not a Python file.
    """
    use_files(files)
