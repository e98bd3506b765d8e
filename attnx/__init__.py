"""attnx tells whether attention weights, or any other importance scores, can be read as an explanation.

Names are imported when they are first used, so that `import attnx` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import evaluate, experiment, fetch_dataset, study, sweep
    from .auditing import audit
    from .data.loading import Source
    from .data.text_files import parse_object, read_json_lines, read_lines, read_text
    from .errors import (
        AttnxError,
        CheckFailed,
        DataError,
        MachineError,
        PluginError,
        UsageError,
        did_you_mean,
    )
    from .formulas.chunks import at_once, equal_lengths, passes_at_once, similar_lengths
    from .formulas.class_outputs import class_output
    from .formulas.correlations import average_ranks, column_blocks, pearson, weighted_tau
    from .formulas.deception import deception_penalty, rationale_mass
    from .formulas.divergences import js_divergence, total_variation
    from .formulas.erasure import attention_without, logits_of_kept, mean_embedding
    from .formulas.layers import Layers
    from .formulas.randomness import Randomness
    from .formulas.ranking import ranked
    from .formulas.scorers import Scorer, make_scorer
    from .formulas.shares import shares
    from .formulas.tiles import put_together
    from .hookspecs import hookimpl
    from .host.cards import Card
    from .objects import Checked, check
    from .protocols import (
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
    from .report.audit import AuditReport
    from .report.comparison import Comparison
    from .report.findings import StudyReport
    from .report.records import Report
    from .report.reproduction import Reproduction
    from .report.sweeps import SweepReport
    from .reproducing import reproduce
    from .request.spec import Options, RunSpec, Training
    from .run.lab import Chosen, Lab, Setting
    from .run.opening import load
    from .store.comparing import compare
    from .types import (
        Axis,
        Batch,
        Conclusion,
        Corpus,
        Evidence,
        Example,
        Finding,
        Importance,
        Kept,
        Measure,
        Outputs,
        Passes,
        TaskData,
        Trace,
        WithCurve,
    )
    from .wrapping import wrap

_MODULES = {
    "api": ("evaluate", "experiment", "fetch_dataset", "study", "sweep"),
    "host.cards": ("Card",),
    "data.loading": ("Source",),
    "formulas.deception": ("deception_penalty", "rationale_mass"),
    "formulas.chunks": ("at_once", "equal_lengths", "passes_at_once", "similar_lengths"),
    "formulas.correlations": ("average_ranks", "column_blocks", "pearson", "weighted_tau"),
    "formulas.divergences": ("js_divergence", "total_variation"),
    "formulas.erasure": ("attention_without", "logits_of_kept", "mean_embedding"),
    "formulas.shares": ("shares",),
    "formulas.tiles": ("put_together",),
    "errors": (
        "AttnxError",
        "CheckFailed",
        "DataError",
        "MachineError",
        "PluginError",
        "UsageError",
        "did_you_mean",
    ),
    "hookspecs": ("hookimpl",),
    "formulas.class_outputs": ("class_output",),
    "protocols": (
        "AttentionProjection",
        "DeletingModel",
        "Drawing",
        "ImportanceMethod",
        "InfluencingModel",
        "LayeredModel",
        "Metric",
        "Model",
        "SplitMetric",
        "Study",
        "Task",
    ),
    "formulas.layers": ("Layers",),
    "formulas.randomness": ("Randomness",),
    "formulas.ranking": ("ranked",),
    "formulas.scorers": ("Scorer", "make_scorer"),
    "report.comparison": ("Comparison",),
    "report.findings": ("StudyReport",),
    "report.sweeps": ("SweepReport",),
    "auditing": ("audit",),
    "reproducing": ("reproduce",),
    "report.reproduction": ("Reproduction",),
    "report.audit": ("AuditReport",),
    "report.records": ("Report",),
    "request.spec": (
        "Options",
        "RunSpec",
        "Training",
    ),
    "run.opening": ("load",),
    "store.comparing": ("compare",),
    "run.lab": ("Chosen", "Lab", "Setting"),
    "data.text_files": ("parse_object", "read_json_lines", "read_lines", "read_text"),
    "wrapping": ("wrap",),
    "objects": ("Checked", "check"),
    "types": (
        "Axis",
        "Batch",
        "Conclusion",
        "Corpus",
        "Evidence",
        "Example",
        "Finding",
        "Importance",
        "Kept",
        "Measure",
        "Passes",
        "Outputs",
        "TaskData",
        "Trace",
        "WithCurve",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [  # noqa: RUF022 - grouped as a reader looks for them
    "evaluate",
    "study",
    "experiment",
    "sweep",
    "reproduce",
    "wrap",
    "check",
    "Checked",
    "load",
    "compare",
    "audit",
    "fetch_dataset",
    "Report",
    "AuditReport",
    "Comparison",
    "StudyReport",
    "SweepReport",
    "Reproduction",
    "RunSpec",
    "Training",
    "AttentionProjection",
    "DeletingModel",
    "Drawing",
    "ImportanceMethod",
    "InfluencingModel",
    "LayeredModel",
    "Metric",
    "Model",
    "SplitMetric",
    "Task",
    "Study",
    "Lab",
    "Setting",
    "Chosen",
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
    "Kept",
    "Layers",
    "Measure",
    "Passes",
    "TaskData",
    "Trace",
    "WithCurve",
    "Randomness",
    "Source",
    "read_lines",
    "read_text",
    "read_json_lines",
    "parse_object",
    "did_you_mean",
    "at_once",
    "passes_at_once",
    "similar_lengths",
    "equal_lengths",
    "class_output",
    "ranked",
    "shares",
    "put_together",
    "Scorer",
    "make_scorer",
    "attention_without",
    "mean_embedding",
    "logits_of_kept",
    "average_ranks",
    "pearson",
    "weighted_tau",
    "column_blocks",
    "js_divergence",
    "total_variation",
    "rationale_mass",
    "deception_penalty",
    "AttnxError",
    "CheckFailed",
    "DataError",
    "MachineError",
    "PluginError",
    "UsageError",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("attnx")
    if name not in _HOME:
        raise AttributeError(f"module 'attnx' has no attribute '{name}'")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
