"""Calls that the types of the public functions accept, and calls that they reject.

mypy reads this file (`make types`); nothing runs it. A call that should be rejected and is accepted is an
unused `type: ignore`, which is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

import attnx
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
