"""attnx tells whether attention weights, or any other importance scores, can be read as an explanation.

Names are imported when they are first used, so that `import attnx` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import evaluate, fetch_dataset, study
    from .batching import similar_lengths
    from .component import Card, did_you_mean
    from .data import Source
    from .divergences import js_divergence, total_variation
    from .errors import AttnxError, CheckFailed, DataError, PluginError, UsageError
    from .hookspecs import hookimpl
    from .outputs import class_output
    from .protocols import (
        AttentionProjection,
        DeletingModel,
        ImportanceMethod,
        InfluencingModel,
        Metric,
        Model,
        SplitMetric,
        Task,
    )
    from .randomness import Randomness
    from .ranking import ranked
    from .results import Report, StudyReport
    from .spec import Options, RunSpec, Training
    from .studies import Finding, Lab, Outputs, Study
    from .text_files import parse_object, read_json_lines, read_lines, read_text
    from .types import (
        Axis,
        Batch,
        Conclusion,
        Corpus,
        Evidence,
        Example,
        Importance,
        Measure,
        TaskData,
        Trace,
    )

_MODULES = {
    "api": ("evaluate", "fetch_dataset", "study"),
    "batching": ("similar_lengths",),
    "component": ("Card", "did_you_mean"),
    "data": ("Source",),
    "divergences": (
        "js_divergence",
        "total_variation",
    ),
    "errors": (
        "AttnxError",
        "CheckFailed",
        "DataError",
        "PluginError",
        "UsageError",
    ),
    "hookspecs": ("hookimpl",),
    "outputs": ("class_output",),
    "protocols": (
        "AttentionProjection",
        "DeletingModel",
        "ImportanceMethod",
        "InfluencingModel",
        "Metric",
        "Model",
        "SplitMetric",
        "Task",
    ),
    "randomness": ("Randomness",),
    "ranking": ("ranked",),
    "results": ("Report", "StudyReport"),
    "spec": (
        "Options",
        "RunSpec",
        "Training",
    ),
    "studies": ("Finding", "Lab", "Outputs", "Study"),
    "text_files": ("parse_object", "read_json_lines", "read_lines", "read_text"),
    "types": (
        "Axis",
        "Batch",
        "Conclusion",
        "Corpus",
        "Evidence",
        "Example",
        "Importance",
        "Measure",
        "TaskData",
        "Trace",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [  # noqa: RUF022 - grouped as a reader looks for them
    "evaluate",
    "study",
    "fetch_dataset",
    "Report",
    "StudyReport",
    "RunSpec",
    "Training",
    "AttentionProjection",
    "DeletingModel",
    "ImportanceMethod",
    "InfluencingModel",
    "Metric",
    "Model",
    "SplitMetric",
    "Task",
    "Study",
    "Lab",
    "Finding",
    "Outputs",
    "Card",
    "Options",
    "hookimpl",
    "Axis",
    "Batch",
    "Conclusion",
    "Corpus",
    "Evidence",
    "Example",
    "Importance",
    "Measure",
    "TaskData",
    "Trace",
    "Randomness",
    "Source",
    "read_lines",
    "read_text",
    "read_json_lines",
    "parse_object",
    "did_you_mean",
    "similar_lengths",
    "class_output",
    "ranked",
    "js_divergence",
    "total_variation",
    "AttnxError",
    "CheckFailed",
    "DataError",
    "PluginError",
    "UsageError",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'attnx' has no attribute '{name}'")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
