"""What the functions of attnx take: names as on the command line, objects, classes, and lists of them.

These are types for annotations. An object needs only the methods of its kind: what it does not declare
has the default of its protocol in `attnx.plugin`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from torch import Tensor

from ..data.access import Source
from ..formulas.randomness import Randomness
from ..protocols import Model, SplitMetric
from ..request.spec import Options
from ..results.report import Report
from ..run.lab import Lab
from ..run.loaded_run import Run
from ..types import Batch, Evidence, Example, Family, Finding, Measure, TaskData, Trace, WithCurve


class OwnTask(Protocol):
    """An object that loads labelled examples."""

    def load(self, source: Source, /) -> TaskData:
        """Load all examples."""
        ...


class OwnTable(Protocol):
    """Texts and labels in memory, by the names of columns: a DataFrame, a `datasets` object, a dictionary."""

    def __getitem__(self, column: str, /) -> Any:
        """Give a column, or a split."""
        ...


class OwnFunction(Protocol):
    """A function or a method from texts to probabilities, such as a call of a service.

    It has a name, which a module of torch does not have: that one says nothing of how it reads texts.
    """

    __name__: str

    def __call__(self, texts: list[str], /) -> Any:
        """Give one row of probabilities for each text, in the order of the labels."""
        ...


class OwnClassifier(Protocol):
    """A fitted classifier of texts, as scikit-learn has them."""

    def predict_proba(self, texts: Any, /) -> Any:
        """Give one row of probabilities for each text."""
        ...


class OwnPipeline(Protocol):
    """A pipeline of transformers: a model with its tokenizer."""

    @property
    def task(self) -> str:
        """What it is for."""
        ...

    @property
    def model(self) -> Any:
        """What classifies texts."""
        ...

    @property
    def tokenizer(self) -> Any:
        """What reads texts."""
        ...


class OwnModel(Protocol):
    """A trained module that encodes examples and runs them."""

    def encode(self, examples: Sequence[Example], /) -> Batch:
        """Turn examples into tensors."""
        ...

    def embed(self, batch: Batch, /) -> Tensor:
        """Give the vector of every unit."""
        ...

    def run(self, batch: Batch, embeddings: Tensor, /) -> Trace:
        """Do a forward pass."""
        ...


class OwnMetric(Protocol):
    """An object that measures an explanation, with what it measures."""

    @property
    def family(self) -> Family:
        """What the metric is about."""
        ...

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The numbers it gives."""
        ...

    def __call__(self, evidence: Evidence, /) -> Tensor | WithCurve:
        """Measure a batch."""
        ...


class OwnProjection(Protocol):
    """A function, or a callable object, from scores to attention."""

    def __call__(self, scores: Tensor, mask: Tensor, /) -> Tensor:
        """Turn scores [B, L] into attention [B, L]."""
        ...


class OwnImportance(Protocol):
    """A function, or a callable object, that scores the units of a batch."""

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness, /) -> Tensor:
        """Give a score [B, L] for every unit."""
        ...


class OwnStudy(Protocol):
    """A function, or a callable object, that trains and measures several models."""

    def __call__(self, lab: Lab, /) -> list[Finding]:
        """Carry out the study."""
        ...


WithOptions: TypeAlias = tuple[type[Any], Options | dict[str, Any]]  # a class, and what it is made with

# Texts in memory also come as two lists (texts, labels), and with options: (frame, {"text": "review"}).
TaskLike: TypeAlias = str | OwnTask | type[OwnTask] | OwnTable | tuple[Any, Any] | WithOptions
# A transformer also comes as a pair (model, tokenizer), and with options: (pipeline, {"layer": 2}).
ModelLike: TypeAlias = (
    str
    | OwnModel
    | type[OwnModel]
    | OwnFunction
    | partial[Any]
    | OwnClassifier
    | OwnPipeline
    | tuple[Any, Any]
    | WithOptions
)
ProjectionLike: TypeAlias = str | OwnProjection | type[OwnProjection] | WithOptions
ImportanceLike: TypeAlias = str | OwnImportance | type[OwnImportance] | WithOptions
MetricLike: TypeAlias = str | OwnMetric | SplitMetric | type[OwnMetric] | type[SplitMetric] | WithOptions
StudyLike: TypeAlias = str | OwnStudy | type[OwnStudy] | WithOptions

ImportancesLike: TypeAlias = ImportanceLike | Sequence[ImportanceLike]
MetricsLike: TypeAlias = MetricLike | Sequence[MetricLike]
Names: TypeAlias = str | Sequence[str]

RunLike: TypeAlias = str | Path | Report | Run  # a name that `attnx runs` lists, a folder, or a result
SeedsLike: TypeAlias = Sequence[int] | str  # [0, 1, 2], range(3) or "0-2"
LimitLike: TypeAlias = int | str  # 500 or "train=500,test=200"
SampleLike: TypeAlias = int | Literal["auto", "all"]
TrainingLike: TypeAlias = Mapping[str, Any]  # {"epochs": 20, "learning_rate": 0.01}
FolderLike: TypeAlias = str | Path
