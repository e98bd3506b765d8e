"""`attnx.experiment`: a table or figure of a paper as the registry describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .setup import installed_here

if TYPE_CHECKING:
    from ..registry.experiments import Experiment


def experiment(name: str) -> Experiment:
    """Look up a table or figure of a paper: its grid, its published values and its claims.

    `attnx.reproduce` runs it.

    Args:
        name: its name, as `attnx reproduce --list` shows it.

    Returns:
        The entry of the registry.

    Raises:
        UsageError: there is no experiment of this name.
    """
    from ..request.experiment import find_experiment

    return find_experiment(installed_here().registry.experiments, name)
