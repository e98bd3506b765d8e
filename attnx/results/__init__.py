"""What the functions of attnx give back, down to the last record inside.

The reports themselves are also in `attnx`. All have the same methods: `to_json` and `from_json`, `to_frame`,
`to_markdown`, `to_html`, `figures`, `save` and `schema`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late_imports import import_late

if TYPE_CHECKING:
    from ..registry.experiments import Claim, Column, Experiment, Row, Settings, Size
    from ..request.cell_choices import CellChoices
    from ..run.loaded_run import Prediction, Run
    from .audit import AuditedModel, AuditReport, AuditRow, Noticed
    from .caution import Caution
    from .comparison import ComparedRun, ComparedShare, Comparison, Difference
    from .examples import ExampleColumn, Examples, Scores, SeedScores, StoredExample
    from .explanation import Answer, ClassScores, Explanation, Explanations, MetricValue, RemovedUnit
    from .judgement.records import Clause, FamilyEvidence, Ranked, RemovalShare, SignTest, Verdict, VerdictRow
    from .observations import Epoch, TrainingRecord
    from .planting.report import PlantedExample, PlantedReport, PlantedTrigger, Recovery, TriggerCheck
    from .provenance import ComponentUsed, PluginUsed, Provenance, SampleUsed
    from .report import Curve, MethodCost, Quality, Report, Summary
    from .reproduction import (
        ClaimFound,
        ColumnShown,
        Compared,
        Measured,
        Reproduction,
        SkippedRows,
        TrainedModel,
    )
    from .result import Result
    from .study import StudyReport, StudyRow
    from .sweep import SweepReport, SweepRow, UnfinishedCell, Value

_MODULES = {
    "results.result": ("Result",),
    "results.report": ("Report", "Summary", "Quality", "Curve", "MethodCost"),
    "results.caution": ("Caution",),
    "results.judgement.records": (
        "Verdict",
        "RemovalShare",
        "SignTest",
        "Clause",
        "Ranked",
        "FamilyEvidence",
        "VerdictRow",
    ),
    "results.provenance": ("Provenance", "PluginUsed", "ComponentUsed", "SampleUsed"),
    "results.observations": ("TrainingRecord", "Epoch"),
    "results.examples": ("Examples", "StoredExample", "SeedScores", "Scores", "ExampleColumn"),
    "results.study": ("StudyReport", "StudyRow"),
    "request.cell_choices": ("CellChoices",),
    "results.sweep": ("SweepReport", "SweepRow", "Value", "UnfinishedCell"),
    "results.audit": ("AuditReport", "AuditRow", "AuditedModel", "Noticed"),
    "results.planting.report": (
        "PlantedReport",
        "Recovery",
        "TriggerCheck",
        "PlantedTrigger",
        "PlantedExample",
    ),
    "results.reproduction": (
        "Reproduction",
        "Measured",
        "Compared",
        "ClaimFound",
        "SkippedRows",
        "ColumnShown",
        "TrainedModel",
    ),
    "results.comparison": ("Comparison", "ComparedRun", "ComparedShare", "Difference"),
    "results.explanation": (
        "Explanation",
        "Explanations",
        "ClassScores",
        "MetricValue",
        "RemovedUnit",
        "Answer",
    ),
    "run.loaded_run": ("Run", "Prediction"),
    "registry.experiments": ("Experiment", "Size", "Settings", "Row", "Column", "Claim"),
}

__all__ = [  # noqa: RUF022 - grouped by what holds them
    "Result",
    "Report",
    "Summary",
    "Quality",
    "Curve",
    "MethodCost",
    "Caution",
    "Verdict",
    "RemovalShare",
    "SignTest",
    "Clause",
    "Ranked",
    "FamilyEvidence",
    "VerdictRow",
    "Provenance",
    "PluginUsed",
    "ComponentUsed",
    "SampleUsed",
    "TrainingRecord",
    "Epoch",
    "Examples",
    "StoredExample",
    "SeedScores",
    "Scores",
    "ExampleColumn",
    "StudyReport",
    "StudyRow",
    "SweepReport",
    "SweepRow",
    "CellChoices",
    "Value",
    "UnfinishedCell",
    "AuditReport",
    "AuditRow",
    "AuditedModel",
    "Noticed",
    "PlantedReport",
    "Recovery",
    "TriggerCheck",
    "PlantedTrigger",
    "PlantedExample",
    "Reproduction",
    "Measured",
    "Compared",
    "ClaimFound",
    "SkippedRows",
    "ColumnShown",
    "TrainedModel",
    "Comparison",
    "ComparedRun",
    "ComparedShare",
    "Difference",
    "Explanation",
    "Answer",
    "Explanations",
    "ClassScores",
    "MetricValue",
    "RemovedUnit",
    "Run",
    "Prediction",
    "Experiment",
    "Size",
    "Settings",
    "Row",
    "Column",
    "Claim",
]

__getattr__ = import_late(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
