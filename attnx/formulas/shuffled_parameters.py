"""A model whose parameters say nothing any more."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

import torch
from torch import nn

if TYPE_CHECKING:
    from ..protocols import Model


def shuffled_copy(model: Model, seed: int) -> Model:
    """Copy a model with the entries of each of its parameters in another order.

    Every parameter is shuffled, also one outside of all layers, so sizes stay what they were and what
    training found is lost. The last copy of a model is kept as long as the model and its parameters are.

    Args:
        model: the model, an `nn.Module`; it stays as it is.
        seed: another seed gives another order.

    Returns:
        The copy, on the same device and in the same mode.
    """
    module = cast("nn.Module", model)
    state = (seed, *((p.data_ptr(), p._version) for p in module.parameters()))
    known = _made.get(module)
    if known is None or known[0] != state:
        known = _made[module] = (state, _shuffled(module, seed))
    other = known[1].train(module.training)
    for copied, parameter in zip(other.parameters(), module.parameters(), strict=True):
        copied.requires_grad_(parameter.requires_grad)
    return cast("Model", other)


_made: WeakKeyDictionary[nn.Module, tuple[tuple[object, ...], nn.Module]] = WeakKeyDictionary()


def _shuffled(module: nn.Module, seed: int) -> nn.Module:
    other = copy.deepcopy(module)
    for name in [name for name, value in vars(other).items() if inspect.isfunction(value)]:
        if hasattr(type(other), name):  # put there to watch the passes of the original, which it would run
            del vars(other)[name]
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in other.parameters():
            order = torch.randperm(parameter.numel(), generator=generator).to(parameter.device)
            parameter.copy_(parameter.flatten()[order].view_as(parameter))
    return other
