"""The last layer of a classifier that answers from its first position, computed no further than for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from .replaced_forward import forward_as
from .taps import from_first

ROUNDING = 2e-5  # of outputs, as a share of the largest

Modules = tuple[nn.Module, ...]


@dataclass(frozen=True)
class FirstPosition:
    """Modules of the last layer that compute one position, while keys and values are those of all.

    Every tensor before the cut keeps its shape: other positions get what the first has, which nothing reads.
    """

    cut: Modules = ()  # the module after which the layer goes on with the first position
    maps: Modules = ()  # linear maps before it: of queries, and after attention
    attention: Modules = ()  # the module that attends

    @classmethod
    def of(
        cls, block: nn.Module, attention: nn.Module, maps: Modules, call: Callable[[], Any]
    ) -> FirstPosition:
        """What can be spared in a layer, found by calls, each of which must answer as the whole does."""
        with torch.no_grad():
            whole: Tensor = call()[0]
        holder = next((part for part in block.children() if attention in set(part.modules())), block)
        found = cls(cut=(holder,))
        least = found._work(call, whole)
        if least == torch.inf:  # other positions are read
            return cls()
        # Where a residual is added to what the holder gives, a part after that has to be the cut.
        more = [cls(cut=(part,)) for part in block.children() if part is not holder]
        for tried in more:
            work = tried._work(call, whole)
            if work < least:
                found, least = tried, work
        deeper = replace(found, maps=maps, attention=(attention,))
        return deeper if deeper._work(call, whole) < least else found

    @contextmanager
    def alone(self, attends: bool = True) -> Iterator[None]:
        """Compute no more than the first position needs; `attends`: attention is read from no other."""
        with ExitStack() as hooks:
            for part in self.cut:
                hooks.callback(part.register_forward_hook(_first_position).remove)
            # Dropout in training draws numbers for all positions, and would draw others.
            if attends and not any(module.training for module in self.attention):
                for module in self.maps:
                    hooks.enter_context(forward_as(module, _repeating(module.forward)))
                for module in self.attention:
                    hooks.enter_context(from_first(module))
            yield

    def _work(self, call: Callable[[], Any], whole: Tensor) -> float:
        """Multiplications in linear maps of a call; infinite if it does not answer as the whole does."""
        with torch.no_grad(), self.alone(), _Multiplications() as counted:
            try:
                answer: Tensor = call()[0]
            except Exception:  # the code of hundreds of architectures
                return torch.inf
        return float(counted.count) if alike(answer, whole) else torch.inf


class _Multiplications(TorchFunctionMode):
    """Counts those of linear maps."""

    count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is F.linear:
            self.count += args[0].numel() * args[1].shape[0]
        return func(*args, **(kwargs or {}))


def _first_position(_: nn.Module, __: Any, output: Any) -> Any:
    """States [B, 1, H] of what a module gives: states [B, T, H], or these and more in a tuple."""
    return (output[0][:, :1], *output[1:]) if isinstance(output, tuple) else output[:, :1]


def _repeating(forward: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A map of states [B, T, H] that is computed for the first position, and is the same for all."""

    def map_first(x: Tensor) -> Tensor:
        return forward(x[:, :1]).expand(-1, x.shape[1], -1)

    return map_first


def alike(a: Tensor, b: Tensor) -> bool:
    """Whether two outputs are the same up to rounding, however small their numbers are."""
    return a.shape == b.shape and float((a - b).abs().max()) <= ROUNDING * float(b.abs().max())
