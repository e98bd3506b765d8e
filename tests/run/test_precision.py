"""Mixed precision: training alone computes in it, and a machine that cannot is told so in words.

Trainings run in processes of their own, limited to instructions that virtual machines allow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

from attnx.errors import UsageError
from attnx.run.training.precision import Precision, fault_of
from attnx.testing import ToyModel

CPU = torch.device("cpu")
TRAINING = """
import json
import attnx, torch
from attnx.errors import UsageError
from attnx.progress import Progress
from attnx.run.training.loop import train
from attnx.testing import ToyModel, toy_data

def run(model, **settings):
    training = attnx.plugin.Training(**{"epochs": 10, "learning_rate": 0.05, "batch_size": 2, **settings})
    return train(model, toy_data(), training, seed=0, device=torch.device("cpu"),
                 progress=Progress("off"), label="training")

found = {}
try:
%s
except UsageError as refused:
    found = {"refused": str(refused)}
print(json.dumps(found))
"""


MODELS = ["bilstm-small", "cnn-small", "transformer"]
BODY = f"""
seen = set()
class Watched(ToyModel):
    def run(self, batch, embeddings, *, attention=None):
        trace = super().run(batch, embeddings, attention=attention)
        seen.add((self.training, str(trace.logits.dtype)))
        return trace
model = Watched()
course = run(model, epochs=30, precision="mixed").course
found["fell"] = course[-1].loss < course[1].loss
found["seen"] = sorted(seen)
found["parameters"] = sorted({{str(parameter.dtype) for parameter in model.parameters()}})
for precision in ("full", "mixed"):
    found[precision] = run(ToyModel(), clip=1.0, precision=precision).course[-1].dev_loss
found["models"] = {{
    model: attnx.evaluate("sdc-text:train=60,dev=10,test=16", model, metrics=("entropy",), progress=False,
                          training=dict(epochs=1, clip=1, precision="mixed"), device="cpu", limit=20
                          ).summaries[0].mean
    for model in {MODELS}
}}
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What training in mixed precision gives in a process of its own; skipped if the machine cannot."""
    program = TRAINING % "\n".join(f"    {line}" for line in BODY.strip().splitlines())
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if "refused" in result:
        assert "Mixed precision does not work on this processor" in result["refused"]
        pytest.skip(result["refused"])
    return result


def test_passes_of_training_are_mixed_and_those_of_measuring_full(found: dict[str, Any]) -> None:
    assert found["seen"] == [[False, "torch.float32"], [True, "torch.bfloat16"]]
    assert found["parameters"] == ["torch.float32"]
    assert found["fell"]


def test_mixed_is_near_full_and_not_the_same(found: dict[str, Any]) -> None:
    assert found["mixed"] == pytest.approx(found["full"], abs=0.02)
    assert found["mixed"] != found["full"]


def test_models_of_words_train_in_mixed_precision(found: dict[str, Any]) -> None:
    assert list(found["models"]) == MODELS
    assert None not in found["models"].values()


def test_full_precision_changes_nothing() -> None:
    full = Precision.of("full", CPU, ToyModel())
    layer = nn.Linear(2, 1)
    before = layer.weight.detach().clone()
    with full.passing():
        loss = layer(torch.ones(1, 2)).sum()
    assert loss.dtype == torch.float32
    full.step(loss, torch.optim.SGD(layer.parameters(), lr=0.5), clip=0)
    assert torch.equal(layer.weight, before - 0.5)


def test_a_step_clips_the_norm_of_the_gradient() -> None:
    layer = nn.Linear(2, 1, bias=False)
    before = layer.weight.detach().clone()
    loss = layer(torch.tensor([[3.0, 4.0]])).sum()  # a gradient of norm 5
    Precision.of("full", CPU, layer).step(loss, torch.optim.SGD(layer.parameters(), lr=1.0), clip=1.0)
    torch.testing.assert_close(before - layer.weight, torch.tensor([[0.6, 0.8]]), atol=1e-5, rtol=0)


def test_a_device_without_it_is_refused() -> None:
    with pytest.raises(UsageError, match=r"not supported on 'mps'; use --train precision=full"):
        Precision.of("mixed", torch.device("mps"), ToyModel())


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("pass", ""),
        ("raise RuntimeError('could not create a primitive')", "RuntimeError: could not create a primitive"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "a trial was ended by signal 4"),
    ],
)
def test_a_trial_says_how_it_failed(program: str, said: str) -> None:
    assert fault_of(program) == said


def test_a_processor_that_fails_the_trial_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "attnx.run.training.precision.TRIAL", "raise RuntimeError('no such {recurrent} primitive')"
    )
    with pytest.raises(UsageError, match=r"on this processor \(RuntimeError: no such False primitive\)"):
        Precision.of("mixed", CPU, ToyModel())
    with pytest.raises(UsageError, match=r"no such True primitive"):
        Precision.of("mixed", CPU, nn.Sequential(nn.LSTM(2, 2)))
