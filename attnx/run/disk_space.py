"""Disk space that a run needs: without it, nothing is computed."""

from __future__ import annotations

from pathlib import Path

from ..disk import check_space
from ..protocols import Model
from ..request.keep_levels import Keep
from ..store.weights import Weights
from ..types import TaskData

PAGES = 100_000  # bytes of a report, its page and its checksums, without examples
CHECKPOINT = 10  # times the weights: current and best ones, three moments, and the previous checkpoint


def check_run_space(
    root: Path, data: TaskData, keep: Keep, *, seeds: int, methods: int, measures: int
) -> None:
    """Raise an error if there is no space for a report and the examples of the test split."""
    check_space(root, PAGES + _examples_size(data, keep, seeds, methods, measures), "the report", "--out")


def _examples_size(data: TaskData, keep: Keep, seeds: int, methods: int, measures: int) -> int:
    """Bytes of the stored examples: doubles for each example; a half and some letters for each unit."""
    if keep == "none":
        return 0
    doubles = 8 * len(data.test) * seeds * (len(data.label_names) + measures)
    if keep == "values":
        return doubles
    units = sum(len(example.units) for example in data.test)
    return doubles + 2 * units * (1 + seeds * methods)


def check_weights_space(weights: Weights, model: Model, models: int) -> None:
    """Raise an error if there is no space for the weights of so many models like this, and a checkpoint."""
    size = sum(tensor.numel() * tensor.element_size() for tensor in model.state_dict().values())
    what = "a model in training" if models == 1 else f"{models} models in training"
    check_space(weights.root, size * (models + CHECKPOINT), what, "ATTNX_HOME")
