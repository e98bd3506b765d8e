"""Measure stored models and print every row of their reports as JSON, with the instructions torch has here.

`python tests/measure_on_this_processor.py train FOLDER all` trains models and stores their weights, so that
other processors start from the same numbers; `... measure FOLDER all` measures them; `... both FOLDER all`
does one after the other.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

import attnx
from attnx.data.loading import Source, load_data
from attnx.host.catalog import Catalog
from attnx.plugin import Model, TaskData
from attnx.progress import Progress
from attnx.request.plan import Plan
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx.results.formatting import format_number
from attnx.run.training.loop import train as fit
from attnx.testing import ToyModel

TASK = "sdc-text:train=300,dev=50,test=120"
MODELS = {
    "bilstm": "bilstm:hidden=16,embedding=12",
    "mlp": "mlp:hidden=16,embedding=12",
    "transformer": "transformer:hidden=16,embedding=12",
    "cnn": "cnn:hidden=16,embedding=12",
}
EXPLANATIONS = ("attention", "gradient", "loo", "integrated-gradients:steps=10", "attention-x-gradient")
METRICS = (
    "kendall",
    "kendall-topk",
    "spearman",
    "weighted-kendall",
    "comprehensiveness",
    "sufficiency",
    "decision-flip",
    "flip-fraction",
    "mi-kendall:clusters=10,repeats=3,permutations=3",
    "importance-entropy",
    "adversarial-attention:steps=20",
)


def planned(name: str) -> tuple[Plan, TaskData]:
    """The plan of a model and the data that it reads."""
    asked = {"task": TASK, "model": MODELS[name], "metrics": ["entropy"], "training": {"epochs": 3}}
    plan = resolve(RunSpec.model_validate(asked), Catalog.installed())
    return plan, load_data(plan.task.make(), Source(), plan.spec.limit)


def built(plan: Plan, data: TaskData) -> Model:
    """A model as it is before training."""
    torch.manual_seed(0)
    model: Model = plan.model.make().build(data, ToyModel().projection, plan.model.options)
    return model


def train(folder: Path, models: Sequence[str]) -> None:
    """Store the weights of every model after a few steps of training."""
    for name in models:
        plan, data = planned(name)
        model = built(plan, data)
        fit(
            model,
            data,
            plan.training,
            seed=0,
            followed=(),
            device=torch.device("cpu"),
            progress=Progress("off"),
            label=name,
        )
        torch.save(model.state_dict(), folder / f"{name}.pt")


def measure(folder: Path, models: Sequence[str]) -> dict[str, Any]:
    """Every number of every row, and how a report prints it."""
    rows: dict[str, Any] = {}
    for name in models:
        model = built(*planned(name))
        model.load_state_dict(torch.load(folder / f"{name}.pt"))
        report = attnx.evaluate(
            TASK,
            model,
            explanations=EXPLANATIONS,
            references=("gradient", "loo"),
            metrics=METRICS,
            progress=False,
        )
        for s in report.summaries:
            where = [name, s.metric, s.measure, s.explanation, s.reference, s.predicted]
            for part in ("mean", "low", "high"):
                value = getattr(s, part)
                rows[" ".join(str(word) for word in [*where, part])] = [value, format_number(value)]
    return rows


if __name__ == "__main__":
    _, what, folder, asked = sys.argv
    models = list(MODELS) if asked == "all" else [asked]
    if what in ("train", "both"):
        train(Path(folder), models)
    if what in ("measure", "both"):
        json.dump(measure(Path(folder), models), sys.stdout)
