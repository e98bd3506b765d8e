"""`attnx.experiment`: a table or figure of a paper as the registry has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .setup import installed_here

if TYPE_CHECKING:
    from ..registry.experiments import Experiment


def experiment(name: str) -> Experiment:
    """A table or figure of a paper as the registry has it: its grid, its values and its claims."""
    from ..request.experiment import find_experiment

    return find_experiment(installed_here().registry.experiments, name)
