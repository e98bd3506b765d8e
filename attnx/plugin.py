"""What the author of a plugin needs: protocols, cards, hooks, and the records that components exchange.

    from attnx.plugin import Card, Evidence, Measure, Metric, hookimpl

docs/plugins.md is the guide. The mathematics that components share is in `attnx.formulas`, the conformance
tests in `attnx.testing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .late_imports import import_late

if TYPE_CHECKING:
    from .data.loading import Source
    from .data.text_files import parse_object, read_json_lines, read_lines, read_text
    from .data.word_spans import find_in_order, join_words
    from .errors import (
        AttnxError,
        AttnxWarning,
        CheckFailed,
        DataError,
        MachineError,
        PluginError,
        UsageError,
        did_you_mean,
        did_you_mean_path,
    )
    from .hookspecs import hookimpl
    from .host.cards import Adapter, Card, TargetUse
    from .protocols import (
        AttentionProjection,
        ClassNamingModel,
        DeletingModel,
        DifferentiatingModel,
        Drawing,
        FrozenModel,
        ImportanceMethod,
        InfluencingModel,
        JointMetric,
        LayeredModel,
        Metric,
        Model,
        NoticedModel,
        ReplacingModel,
        SplitMetric,
        Study,
        Task,
    )
    from .request.spec import Choice, Limit, Options, RunSpec, Training
    from .run.lab import Chosen, Lab, Setting
    from .types import (
        Axis,
        Batch,
        Conclusion,
        Corpus,
        DrawingData,
        Evidence,
        Example,
        ExplainedOutput,
        Finding,
        GradientPoints,
        Importance,
        JointEvidence,
        Measure,
        Order,
        Outputs,
        Passes,
        Question,
        RemovalColumn,
        RemovalName,
        TaskData,
        TestSetting,
        Trace,
        WithCurve,
    )
    from .wrapping.module import WrappedModel

_MODULES = {
    "hookspecs": ("hookimpl",),
    "host.cards": ("Card", "Adapter", "TargetUse"),
    "request.spec": ("Options", "RunSpec", "Choice", "Limit", "Training"),
    "protocols": (
        "Task",
        "Model",
        "ClassNamingModel",
        "DeletingModel",
        "FrozenModel",
        "InfluencingModel",
        "DifferentiatingModel",
        "ReplacingModel",
        "LayeredModel",
        "NoticedModel",
        "AttentionProjection",
        "ImportanceMethod",
        "Metric",
        "JointMetric",
        "SplitMetric",
        "Study",
        "Drawing",
    ),
    "types": (
        "Example",
        "TaskData",
        "Batch",
        "Trace",
        "GradientPoints",
        "ExplainedOutput",
        "Importance",
        "Evidence",
        "JointEvidence",
        "Measure",
        "RemovalColumn",
        "RemovalName",
        "TestSetting",
        "Question",
        "Order",
        "Axis",
        "WithCurve",
        "Corpus",
        "Conclusion",
        "Finding",
        "Outputs",
        "Passes",
        "DrawingData",
    ),
    "wrapping.module": ("WrappedModel",),
    "run.lab": ("Lab", "Setting", "Chosen"),
    "data.loading": ("Source",),
    "data.word_spans": ("find_in_order", "join_words"),
    "data.text_files": ("read_text", "read_lines", "read_json_lines", "parse_object"),
    "errors": (
        "AttnxError",
        "AttnxWarning",
        "UsageError",
        "PluginError",
        "DataError",
        "MachineError",
        "CheckFailed",
        "did_you_mean",
        "did_you_mean_path",
    ),
}

__all__ = [  # noqa: RUF022 - grouped as an author looks for them
    "Card",
    "Adapter",
    "hookimpl",
    "Options",
    "Task",
    "Model",
    "ClassNamingModel",
    "DeletingModel",
    "FrozenModel",
    "InfluencingModel",
    "DifferentiatingModel",
    "ReplacingModel",
    "LayeredModel",
    "NoticedModel",
    "AttentionProjection",
    "ImportanceMethod",
    "Metric",
    "JointMetric",
    "SplitMetric",
    "Study",
    "Drawing",
    "Example",
    "TaskData",
    "Batch",
    "Trace",
    "GradientPoints",
    "ExplainedOutput",
    "Importance",
    "Evidence",
    "JointEvidence",
    "Measure",
    "RemovalColumn",
    "RemovalName",
    "TestSetting",
    "Question",
    "Order",
    "Axis",
    "WithCurve",
    "Corpus",
    "Conclusion",
    "Finding",
    "Outputs",
    "Passes",
    "TargetUse",
    "DrawingData",
    "WrappedModel",
    "Lab",
    "Setting",
    "Chosen",
    "RunSpec",
    "Choice",
    "Limit",
    "Training",
    "Source",
    "read_text",
    "read_lines",
    "read_json_lines",
    "parse_object",
    "find_in_order",
    "join_words",
    "AttnxError",
    "AttnxWarning",
    "UsageError",
    "PluginError",
    "DataError",
    "MachineError",
    "CheckFailed",
    "did_you_mean",
    "did_you_mean_path",
]

__getattr__ = import_late(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
