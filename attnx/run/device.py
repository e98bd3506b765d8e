"""The device that a run computes on, and the machine that its results may depend on."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence

import numpy as np
import torch

from ..errors import UsageError
from ..store.identity import processor_settings


def choose_device(name: str) -> torch.device:
    """The device of that name; 'auto' takes a GPU when there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        if device.type == "mps":
            raise UsageError(
                f"Device '{name}' has no 64-bit numbers, which measuring takes; use --device cpu."
            )
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UsageError(f"Device '{name}' is not available here; use --device auto or cpu.") from error
    return device


def environment(device: torch.device, on_cpu: Sequence[str] = ()) -> dict[str, str]:
    """The machine and the libraries that results may depend on, and what was not computed on the device."""
    elsewhere = {"computed on the CPU": ", ".join(on_cpu)} if on_cpu else {}
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "platform": f"{sys.platform} {platform.machine()}",
        "device": device.type,
        **processor_settings(),
        **elsewhere,
    }
