"""Calls that the types of the public functions accept, and calls that they reject.

mypy reads this file (`make types`); nothing runs it. A call that should be rejected and is accepted is an
unused `type: ignore`, which is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import pandas
import torch
from torch import Tensor, nn

import attnx
from attnx import components, datasets, runs
from attnx.formulas import Randomness
from attnx.plugin import (
    Batch,
    Evidence,
    Example,
    Finding,
    ImportanceMethod,
    Lab,
    Measure,
    Metric,
    Model,
    Options,
    Source,
    TaskData,
    Trace,
    WrappedModel,
)
from attnx.results import Prediction, Summary
from attnx.testing import ToyModel, assert_conforms, toy_data


class MyTask:
    def load(self, source: Source) -> TaskData:
        return toy_data()


class MyOptions(Options):
    size: int = 3


class MyMetric(Metric):
    """A metric that subclasses its protocol."""

    family = "shape"
    measures = (Measure("top", "none", (0, 1)),)

    def __call__(self, evidence: Evidence) -> Tensor:
        return evidence.explanation.values.amax(1)


class MyModel(nn.Module):
    """A model without anything that has a default."""

    def encode(self, examples: Sequence[Example]) -> Batch:
        return Batch.padded(examples, [[0] * len(example.units) for example in examples])

    def embed(self, batch: Batch) -> Tensor:
        return torch.zeros(*batch.inputs.shape, 2)

    def run(self, batch: Batch, embeddings: Tensor) -> Trace:
        return Trace.of(batch, embeddings, embeddings.sum(1))


class MyMethod(ImportanceMethod):
    """A method that leaves what is optional to its protocol."""

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        return trace.attention


def my_method(model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
    return trace.attention


def my_study(lab: Lab) -> list[Finding]:
    return []


def my_projection(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.softmax(-1)


def predict(texts: list[str]) -> list[list[float]]:
    return [[0.5, 0.5] for _ in texts]


class MyService:
    """A classifier elsewhere: its method is a function, and it is like one of scikit-learn."""

    def predict_proba(self, texts: Sequence[str]) -> list[list[float]]:
        return [[0.5, 0.5] for _ in texts]


def untyped(texts):  # type: ignore[no-untyped-def]
    return [[0.5, 0.5] for _ in texts]


def brought(frame: pandas.DataFrame) -> None:
    attnx.evaluate(frame, predict, metrics="comprehensiveness")
    attnx.evaluate(frame, untyped)
    attnx.evaluate(frame, lambda texts: [[0.5, 0.5] for _ in texts])
    attnx.evaluate(frame, MyService().predict_proba)
    attnx.evaluate(frame, MyService())
    attnx.evaluate(frame, partial(predict))
    attnx.evaluate((list(frame["text"]), list(frame["label"])), "average-add")
    attnx.evaluate((frame, {"text": "review"}), "average-add")
    attnx.evaluate({"text": ["a dull film"], "label": ["bad"]}, "average-add")
    attnx.explain(predict, ["a dull film"], "loo").to_frame()


def listed() -> None:
    """What is stored and installed, with the arguments of the command line."""
    newest: runs.StoredRun = runs.list(last=3)[0]
    report: attnx.Report | attnx.StudyReport = runs.show(newest.folder, out="runs")
    table: str = runs.export("3f2a", "csv", into="table.csv")
    files: tuple[Path, ...] = runs.export("3f2a", "svg", into=Path("figures"))
    page: Path = runs.view("3f2a", open=True, without="pictures")
    deleted: tuple[Path, ...] = runs.prune(older_than="30d", keep=100, dry_run=True)
    unused: tuple[runs.StoredWeights, ...] = runs.weights(prune=True, older_than=timedelta(days=1))
    runs.delete("3f2a", Path("runs/9c1d"), dry_run=True)
    status: attnx.datasets.DatasetStatus = datasets.list(data_dir="data")[0]
    folder: Path = datasets.fetch("imdb").folder
    datasets.export("imdb", split="test", limit=20)[0].to_json().upper()
    summary: str = components.list("tasks")[0].summary
    broken = [plugin.name for plugin in attnx.components.plugins() if plugin.failure]
    runs.export("3f2a", "gif")  # type: ignore[call-overload]
    runs.prune(older_than=30)  # type: ignore[arg-type]
    datasets.export("imdb", split="tests")  # type: ignore[arg-type]
    del report, table, files, page, deleted, unused, status, folder, summary, broken


def accepted(net: nn.Module) -> None:
    report = attnx.evaluate("sst", "bilstm-add", metrics="kendall", seeds=range(3))
    attnx.evaluate("sst", ToyModel(), metrics=["kendall", MyMetric(), MyMetric], seeds="0-2")
    attnx.evaluate(
        MyTask(), (ToyModel, MyOptions()), explanations=[my_method, MyMethod(), MyMethod, "loo"], limit=20
    )
    attnx.evaluate(MyTask, ToyModel, projection=my_projection, training={"epochs": 3}, sample="all")
    summary: Summary = report.summaries[0]
    attnx.study(my_study, "sst", limit="train=20,test=10")
    attnx.study("seed-variance", "sst", seeds=[0, 1])
    attnx.compare("3f2a", Path("runs/9c1d"), report)
    attnx.explain("3f2a", "a dull film", methods=["loo", "attention"])
    scores = attnx.explain(ToyModel(), "a dull film", "loo", task="sst").scores["loo"]
    attnx.explain("3f2a", ["a dull film", "a witty film"], target="all").arrays("loo")
    attnx.load("3f2a").explain(["a dull film"], metrics="comprehensiveness").metrics_frame()
    run = attnx.load("3f2a")
    predictions: list[Prediction] = run.predict("a dull film")
    model: WrappedModel = attnx.wrap(net, inputs={"a": 1}, attention="attention")
    made: type[WrappedModel] = attnx.wrap(lambda words, classes: nn.Linear(words, classes))
    attnx.evaluate("sst", model)
    attnx.evaluate("sst", MyModel())
    attnx.evaluate("sst", made)
    attnx.check("softmax").failures[0].law.upper()
    attnx.check(model)
    attnx.sweep(["sst", "imdb"], "bilstm-add", training=[{"epochs": 1}, {"epochs": 2}], executor="in-process")
    attnx.sweep("sst", training={"epochs": 1}, metrics="kendall")
    attnx.reproduce("sdc-figure-5", size="paper", seeds=range(2))
    attnx.audit("kendall", tasks=["planted-word"], seeds="0-2")
    assert_conforms("metric", MyMetric())
    del summary, predictions, scores


def rejected(net: nn.Module) -> None:
    attnx.evaluate(3)  # type: ignore[arg-type]
    attnx.evaluate("sst", net)  # type: ignore[arg-type]
    attnx.evaluate("sst", my_projection)  # type: ignore[arg-type]
    attnx.evaluate("sst", metrics=3.5)  # type: ignore[arg-type]
    attnx.evaluate("sst", metrics=[my_projection])  # type: ignore[list-item]
    attnx.evaluate("sst", explanations=my_projection)  # type: ignore[arg-type]
    attnx.evaluate("sst", projection=my_method)  # type: ignore[arg-type]
    attnx.evaluate("sst", seeds=3)  # type: ignore[arg-type]
    attnx.evaluate("sst", sample="some")  # type: ignore[arg-type]
    attnx.evaluate("sst", keep="most")  # type: ignore[arg-type]
    attnx.evaluate("sst", training="epochs=3")  # type: ignore[arg-type]
    attnx.evaluate("sst", metric="kendall")  # type: ignore[call-arg]
    attnx.study(my_method, "sst")  # type: ignore[arg-type]
    attnx.compare(3)  # type: ignore[arg-type]
    attnx.explain(3, "a dull film")  # type: ignore[call-overload]
    attnx.load(3)  # type: ignore[arg-type]
    attnx.wrap(3)  # type: ignore[call-overload]
    attnx.sweep(3)  # type: ignore[arg-type]
    attnx.sweep("sst", executor="threads")  # type: ignore[arg-type]
    attnx.reproduce("sdc-figure-5", size="large")  # type: ignore[arg-type]
    attnx.audit(3)  # type: ignore[arg-type]
    assert_conforms("metrics", MyMetric())  # type: ignore[arg-type]
    attnx.evaluate("sst").no_such_field  # type: ignore[attr-defined]  # noqa: B018
