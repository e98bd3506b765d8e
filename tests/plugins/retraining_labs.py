"""Labs for the retraining studies, on tasks of a second."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from attnx.host.catalog import Catalog
from attnx.plugin import Model, Source
from attnx.progress import Progress
from attnx.request.resolve import find_part, resolve
from attnx.request.spec import Choice, RunSpec
from attnx.results.study import StudyReport, StudyRow
from attnx.run.device import choose_device
from attnx.run.lab import Lab
from attnx.run.study import run_study
from attnx.run.training.loop import Trainer, train
from attnx.store.weights import Weights

WORDS = "sdc-text:train=160,dev=40,test=60"
SHORT = "sdc-text:segments=8,train=60,dev=20,test=24"  # enough for eight clusters of mi-kendall
SMALL = "bilstm:hidden=6,embedding=12"


def spec(task: str = WORDS, **fields: Any) -> RunSpec:
    usual: dict[str, Any] = {"model": SMALL, "training": {"epochs": 3, "learning_rate": 0.03}}
    return RunSpec.model_validate({"task": task, **usual, **fields})


def make_lab(catalog: Catalog, study: str, asked: RunSpec, trainer: Trainer = train) -> Lab:
    plan = resolve(asked, catalog)
    part = find_part(catalog, "study", Choice.parse(study))
    device = choose_device("cpu")
    return Lab(asked, plan, part, catalog, device, Source(), Weights(), Progress(), trainer=trainer)


def carry_out(catalog: Catalog, study: str, asked: RunSpec, trainer: Trainer = train) -> StudyReport:
    return run_study(Choice.parse(study), asked, catalog, Source(), Progress(), trainer=trainer)[0]


def value(report: StudyReport, setting: str, measure: str) -> Any:
    """The one finding of that setting and measure."""
    (found,) = [f for f in report.findings if (f.setting, f.measure) == (setting, measure)]
    return found


def weights(model: Model) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def as_array(finding: StudyRow) -> np.ndarray[Any, Any]:
    """[S] the mean of every seed, NaN where it is undefined."""
    return np.array(finding.seeds, dtype=float)
