"""The frozen records that flow through an evaluation; the shape comments are the contract.

B examples, L columns, K alternatives, C classes, E embedding, H hidden; True on a mask: may be attended to.
"""

from .batches import Batch, Outputs, Trace
from .examples import Example, TaskData
from .explained_class import ExplainedClass
from .gradient_points import ExplainedOutput, GradientPoints
from .measures import (
    Axis,
    Conclusion,
    Corpus,
    Direction,
    DrawingData,
    Evidence,
    Explainer,
    Family,
    Finding,
    Importance,
    JointEvidence,
    Measure,
    Order,
    Passes,
    Question,
    RemovalColumn,
    RemovalName,
    Sees,
    TestSetting,
    WithCurve,
)

__all__ = [
    "Axis",
    "Batch",
    "Conclusion",
    "Corpus",
    "Direction",
    "DrawingData",
    "Evidence",
    "Example",
    "ExplainedClass",
    "ExplainedOutput",
    "Explainer",
    "Family",
    "Finding",
    "GradientPoints",
    "Importance",
    "JointEvidence",
    "Measure",
    "Order",
    "Outputs",
    "Passes",
    "Question",
    "RemovalColumn",
    "RemovalName",
    "Sees",
    "TaskData",
    "TestSetting",
    "Trace",
    "WithCurve",
]
