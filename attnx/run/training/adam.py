"""Adam as torch has it, without the compiler that torch loads for every optimiser.

`torch.optim` tells torch's compiler to leave it alone, and imports the compiler to do so: a second or
more, in a process that compiles nothing. Nothing here is computed in another way.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch


def _plain(method: str) -> Any:
    """A method of torch's Adam without what is wrapped around it for the compiler."""
    return inspect.unwrap(getattr(torch.optim.Adam, method))


class Adam(torch.optim.Adam):
    """`torch.optim.Adam`, step by step the same numbers; it is not for compiled code."""

    add_param_group = _plain("add_param_group")
    state_dict = _plain("state_dict")
    load_state_dict = _plain("load_state_dict")
    zero_grad = _plain("zero_grad")
    step = torch.no_grad()(_plain("step"))  # which the wrapping also does
