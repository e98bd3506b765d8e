"""The precision of a training step: full, or mixed where this machine can.

Whether it can is tried in a process of its own: oneDNN says it has bfloat16 on virtual machines whose
processor then ends the process, or fails in a way that spoils later passes in full precision.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Literal, Self

import torch
from torch import Tensor, nn

from ...errors import UsageError

TRIAL = """
import torch
layers = [torch.nn.Linear(64, 64), *([torch.nn.LSTM(64, 64, batch_first=True)] if {recurrent} else [])]
for layer in layers:
    inputs = torch.randn(4, 64, 64, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = layer(inputs)
        loss = (outputs[0] if isinstance(outputs, tuple) else outputs).float().sum()
    loss.backward()
"""


@dataclass(frozen=True)
class Precision:
    """How a training computes; parameters, optimiser and everything measured stay in full precision."""

    device: torch.device
    half: torch.dtype | None  # of products of matrices; None: full precision
    scaler: torch.amp.GradScaler  # does nothing but for float16, in which small gradients would be 0

    @classmethod
    def of(cls, asked: Literal["full", "mixed"], device: torch.device, model: nn.Module) -> Self:
        """The precision asked for, refused where this machine cannot train such a model in it."""
        half = _half(device, model) if asked == "mixed" else None
        scaler = torch.amp.GradScaler(device.type, enabled=half is torch.float16)
        return cls(device, half, scaler)

    def passing(self) -> AbstractContextManager[object]:
        """Where a loss is computed."""
        return nullcontext() if self.half is None else torch.autocast(self.device.type, dtype=self.half)

    def step(self, loss: Tensor, optimizer: torch.optim.Optimizer, clip: float) -> None:
        """One step down the gradient of a loss, its norm clipped if asked; none where it overflowed."""
        self.scaler.scale(loss).backward()
        if clip:
            self.scaler.unscale_(optimizer)
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            nn.utils.clip_grad_norm_(parameters, clip)
        self.scaler.step(optimizer)
        self.scaler.update()


def _half(device: torch.device, model: nn.Module) -> torch.dtype:
    """bfloat16 where the device has it, else float16 on a GPU."""
    if device.type == "cuda" and torch.cuda.is_available():
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device.type != "cpu":
        raise UsageError(f"Mixed precision is not supported on '{device}'; use --train precision=full.")
    failure = fault_of(TRIAL.format(recurrent=any(isinstance(m, nn.RNNBase) for m in model.modules())))
    if failure:
        raise UsageError(
            f"Mixed precision does not work on this processor ({failure}); use --train precision=full, or "
            "set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 if it has AVX-512 and only its AMX is out of reach."
        )
    return torch.bfloat16


@cache
def fault_of(program: str) -> str:
    """What goes wrong with a Python program that is run aside; nothing where it ends well."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().splitlines() if done.returncode > 0 else []
    return said[-1] if said else f"a trial was ended by signal {-done.returncode}"
