"""A run starts from known global settings, refuses components that change them, and leaves all as it was."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import attnx
from attnx.plugin import Evidence, Measure, PluginError
from attnx.run.global_state import GlobalState, standard_state
from attnx.testing import ToyModel, toy_data

Cli = Callable[..., tuple[int, str, str]]
Install = Callable[..., Path]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = GlobalState.now()
    yield
    before.restore()


class Toy(attnx.plugin.Task):
    """The toy task."""

    provides = ("words", "rationale")

    def load(self, source: Any) -> attnx.plugin.TaskData:
        return toy_data()


class Half(attnx.plugin.Metric):
    """Always a half, after something else was done."""

    family = "shape"
    measures = (Measure("half", "none", (0, 1)),)

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.then = then

    def __call__(self, evidence: Evidence) -> Tensor:
        self.then()
        return torch.full_like(evidence.trace.logits[:, 0], 0.5)


CHANGES: dict[str, Callable[[], object]] = {
    "default dtype from torch.float32 to torch.float64": lambda: torch.set_default_dtype(torch.float64),
    "gradients from False to True": lambda: torch.set_grad_enabled(True),
    "deterministic algorithms from False to True": lambda: torch.use_deterministic_algorithms(True),
    "matmul precision from highest to medium": lambda: torch.set_float32_matmul_precision("medium"),
    "mkldnn from True to False": lambda: setattr(torch.backends.mkldnn, "enabled", False),
    "threads from 1 to 2": lambda: torch.set_num_threads(2),
    "working directory from ": lambda: os.chdir("/"),
}


@pytest.mark.parametrize("said", CHANGES)
def test_a_metric_that_changes_a_setting_is_named_and_the_setting_restored(said: str) -> None:
    before = GlobalState.now()
    with pytest.raises(PluginError, match=r"^metric 'Half' changed the ") as refused:
        attnx.evaluate(Toy(), ToyModel(), metrics=[Half(CHANGES[said])], progress=False)
    assert said in str(refused.value)
    assert GlobalState.now() == before


def test_a_metric_that_fails_after_a_change_is_undone_too() -> None:
    def fail() -> None:
        torch.set_default_dtype(torch.float64)
        raise ZeroDivisionError("on purpose")

    with pytest.raises(PluginError, match="on purpose"):
        attnx.evaluate(Toy(), ToyModel(), metrics=[Half(fail)], progress=False)
    assert torch.get_default_dtype() == torch.float32


TAU = """
import torch
from attnx.plugin import Metric, Measure
{at_import}
class Half(Metric):
    "Always a half."
    family = "shape"
    measures = (Measure("half", "none", (0, 1)),)
    def __call__(self, evidence):
        {in_call}
        return torch.full_like(evidence.trace.logits[:, 0], 0.5)
"""
CARDS = "@hookimpl\ndef attnx_metrics():\n    return [Card('half', 'wide_plugin.half:Half')]\n"
WIDER = "torch.set_default_dtype(torch.float64)"
SMALL = ("evaluate", "--task", "sdc-2d:train=40,dev=10,test=10", "--train", "epochs=1", "--metric")


@pytest.mark.parametrize("where", ["at_import", "in_call"])
def test_an_installed_plugin_that_changes_the_dtype_is_refused(
    where: str, install: Install, cli: Cli, home: Path
) -> None:
    body = TAU.format(**{"at_import": "", "in_call": "pass", where: WIDER})
    install("wide", CARDS, half=body)
    code, _, err = cli(*SMALL, "half")
    assert code == 3
    assert "metric 'half' of plugin wide" in err
    assert "changed the default dtype from torch.float32 to torch.float64" in err
    assert torch.get_default_dtype() == torch.float32


def test_a_plugin_that_only_is_installed_changes_no_number(install: Install, home: Path) -> None:
    """Its package is imported to read its cards; what it did to torch does not reach the run."""
    asked: dict[str, Any] = {
        "task": "sdc-2d:train=40,dev=10,test=10",
        "metrics": ["entropy"],
        "training": {"epochs": 1},
        "progress": False,
        "fresh": True,
    }
    alone = attnx.evaluate(**asked)
    install("wide", f"import torch\n{WIDER}\n{CARDS}", half=TAU.format(at_import="", in_call="pass"))
    beside = attnx.evaluate(**asked)
    assert torch.get_default_dtype() == torch.float64, "the plugin was not imported"
    assert beside.fingerprint == alone.fingerprint
    assert beside.summaries == alone.summaries
    assert beside.provenance.weights == alone.provenance.weights


def test_a_callers_settings_do_not_reach_a_run_and_come_back() -> None:
    torch.set_default_dtype(torch.float64)
    inside = []
    metric = Half(lambda: inside.append(torch.get_default_dtype()))
    attnx.evaluate(Toy(), ToyModel().float(), metrics=[metric], progress=False)
    assert set(inside) == {torch.float32}
    assert torch.get_default_dtype() == torch.float64


def test_random_numbers_are_the_same_in_every_run_and_the_callers_go_on_as_before() -> None:
    def drawn() -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), float(torch.rand(()))

    random.seed(7)
    np.random.seed(7)
    torch.manual_seed(7)
    expected = [drawn(), drawn()]
    random.seed(7)
    np.random.seed(7)
    torch.manual_seed(7)
    found = [drawn()]
    inside = []
    for _ in range(2):
        with standard_state():
            inside.append(drawn())
    assert inside[0] == inside[1]
    assert [*found, drawn()] == expected


def test_explaining_and_studies_start_from_the_same_settings(home: Path) -> None:
    torch.set_default_dtype(torch.float64)
    run = attnx.evaluate(
        "sdc-text:train=40,dev=10,test=10",
        "mlp:hidden=4,embedding=4",
        metrics=["entropy"],
        training={"epochs": 1},
        progress=False,
    )
    assert run.quality
    found = attnx.study(
        "seed-variance",
        task="sdc-text:train=40,dev=10,test=10",
        model="mlp:hidden=4,embedding=4",
        seeds=(0, 1),
        training={"epochs": 1},
        progress=False,
    )
    assert found.findings
    assert torch.get_default_dtype() == torch.float64
