"""Adam as torch has it, without torch's compiler.

The methods of torch's optimizers import the compiler when they are first called, to tell it that they are not
to be compiled. That import takes about a second, more than the training of a small model.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import unwrap
from typing import Any

import torch
from torch.optim import Adam


class PlainAdam(Adam):
    """Adam whose methods are those below torch's wrappers; every number is the same."""

    add_param_group = unwrap(Adam.add_param_group)
    load_state_dict = unwrap(Adam.load_state_dict)
    state_dict = unwrap(Adam.state_dict)
    zero_grad = unwrap(Adam.zero_grad)
    _step = unwrap(Adam.step)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """Do one step; gradients are not followed through it."""
        return self._step(closure)
