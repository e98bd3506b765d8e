"""Test how far attention weights, or any other importance scores, can be trusted as an explanation.

    import attnx

    report = attnx.evaluate("csv:file=reviews.csv", "bilstm-add")
    print(report)

This module has what a user needs: functions, and the reports that they give back. `attnx.results` has every
record inside a report. What is stored and installed is in `attnx.runs`, `attnx.datasets` and
`attnx.components`. For the authors of plugins there are `attnx.plugin` (protocols and records),
`attnx.formulas` (mathematics) and `attnx.testing` (conformance tests).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .late_imports import Renamed, import_late
from .shared_cores import wait_briefly

if TYPE_CHECKING:
    from . import components as components
    from . import datasets as datasets
    from . import runs as runs
    from .api.audit import audit
    from .api.check import check
    from .api.compare import compare
    from .api.evaluate import evaluate
    from .api.experiment import experiment
    from .api.explain import explain
    from .api.load import load
    from .api.planted import planted
    from .api.reproduce import reproduce
    from .api.study import study
    from .api.sweep import sweep
    from .errors import AttnxError, AttnxWarning, DataError, MachineError, PluginError, UsageError

    # What a plugin declares is read from its source; one of version 0.1 names these as its base classes.
    from .protocols import (  # noqa: F401
        AttentionProjection,
        DeletingModel,
        Drawing,
        ImportanceMethod,
        InfluencingModel,
        LayeredModel,
        Metric,
        Model,
        SplitMetric,
        Study,
        Task,
    )
    from .results.audit import AuditReport
    from .results.comparison import Comparison
    from .results.examples import Examples
    from .results.explanation import Explanation, Explanations
    from .results.planting.report import PlantedReport
    from .results.report import Report
    from .results.reproduction import Reproduction
    from .results.study import StudyReport
    from .results.sweep import SweepReport
    from .run.loaded_run import Run
    from .testing.check_report import CheckReport
    from .wrapping.wrap import wrap

_MODULES = {
    "api.evaluate": ("evaluate",),
    "api.study": ("study",),
    "api.sweep": ("sweep",),
    "api.audit": ("audit",),
    "api.planted": ("planted",),
    "api.reproduce": ("reproduce",),
    "api.experiment": ("experiment",),
    "api.load": ("load",),
    "api.explain": ("explain",),
    "api.check": ("check",),
    "api.compare": ("compare",),
    "wrapping.wrap": ("wrap",),
    "results.report": ("Report",),
    "results.study": ("StudyReport",),
    "results.sweep": ("SweepReport",),
    "results.audit": ("AuditReport",),
    "results.planting.report": ("PlantedReport",),
    "results.reproduction": ("Reproduction",),
    "results.comparison": ("Comparison",),
    "results.explanation": ("Explanation", "Explanations"),
    "results.examples": ("Examples",),
    "run.loaded_run": ("Run",),
    "testing.check_report": ("CheckReport",),
    "errors": ("AttnxError", "UsageError", "PluginError", "DataError", "MachineError", "AttnxWarning"),
}
# Names of version 0.1, which plugins imported from here.
_RENAMED = {
    **{
        name: Renamed(f"attnx.plugin.{name}")
        for name in (
            "AttentionProjection Axis Batch Card CheckFailed Chosen Conclusion Corpus DeletingModel Drawing "
            "Evidence Example Finding Importance ImportanceMethod InfluencingModel Lab LayeredModel Measure "
            "Metric Model Options Outputs Passes RunSpec Setting Source SplitMetric Study Task TaskData "
            "Trace Training WithCurve did_you_mean hookimpl parse_object read_json_lines read_lines read_text"
        ).split()
    },
    **{
        name: Renamed(f"attnx.formulas.{name}")
        for name in (
            "Layers Randomness Scorer at_once attention_without average_ranks class_output column_blocks "
            "deception_penalty equal_lengths js_divergence logits_of_kept make_scorer mean_embedding "
            "passes_at_once pearson put_together ranked rationale_mass shares similar_lengths "
            "total_variation weighted_tau"
        ).split()
    },
    "Checked": Renamed("attnx.testing.ComponentCheck"),
    "Kept": Renamed("attnx.plugin.DrawingData"),
    "fetch_dataset": Renamed("attnx.datasets.fetch", "attnx.datasets.fetch_folder"),
}

__all__ = [  # noqa: RUF022 - grouped as a reader looks for them
    "evaluate",
    "study",
    "sweep",
    "audit",
    "planted",
    "reproduce",
    "experiment",
    "load",
    "explain",
    "compare",
    "wrap",
    "check",
    "Report",
    "StudyReport",
    "SweepReport",
    "AuditReport",
    "PlantedReport",
    "Reproduction",
    "Comparison",
    "Explanation",
    "Explanations",
    "Examples",
    "Run",
    "CheckReport",
    "AttnxError",
    "UsageError",
    "PluginError",
    "DataError",
    "MachineError",
    "AttnxWarning",
]

wait_briefly()

_ROOMS = ("plugin", "formulas", "testing", "results", "runs", "datasets", "components")
_find = import_late(__name__, _MODULES, _RENAMED)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("attnx")
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    return _find(name)


def __dir__() -> list[str]:
    return sorted(__all__)
