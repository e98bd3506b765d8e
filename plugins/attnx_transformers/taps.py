"""Attention of a transformer read and replaced through the library's own attention interface.

A function registered there is what every attention module calls. Where nobody listens it hands on to
the library's fastest; where a tap is set it takes the model's own eager path, whose weights exist.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from attnx.plugin import UsageError

FAST, EAGER = "attnx-fast", "attnx-eager"  # the names it is registered by
_TAPS = "_attnx_taps"

called: ContextVar[list[nn.Module] | None] = ContextVar("called", default=None)


@dataclass
class Tap:
    """What one attention module shows in one pass, and what takes the place of its weights."""

    replace: Callable[[Tensor], Tensor] | None = None  # weights [B, M, T, T] -> weights
    rows: Tensor | None = None  # [B] the one position whose weights are wanted, where nothing is replaced
    weights: Tensor = field(init=False)  # [B, M, T, T], or [B, M, 1, T] of one position
    values: Tensor = field(init=False)  # [B, M, T, D]


def install(model: Any) -> None:
    """Let a model of transformers attend through this module."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, eager_mask

    for name in (FAST, EAGER):
        AttentionInterface.register(name, _attend_fast if name == FAST else _attend_eagerly)
        AttentionMaskInterface.register(name, eager_mask)
    model.set_attn_implementation(FAST if getattr(model, "_supports_sdpa", False) else EAGER)


@contextmanager
def tapped(attentions: Sequence[nn.Module], taps: Sequence[Tap | None]) -> Iterator[None]:
    """Set a tap for each call of an attention module in a pass; none are left, whatever happens.

    A module that serves several layers is called several times and takes its taps in this order.
    """
    for module in attentions:
        mine = [tap for other, tap in zip(attentions, taps, strict=True) if other is module]
        module.__dict__[_TAPS] = iter(mine)
    try:
        yield
    finally:
        for module in attentions:
            module.__dict__.pop(_TAPS, None)


def _attend_fast(module: nn.Module, *tensors: Any, **more: Any) -> Any:
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    return _attend(sdpa_attention_forward, module, *tensors, **more)


def _attend_eagerly(module: nn.Module, *tensors: Any, **more: Any) -> Any:
    return _attend(_eager_of(module), module, *tensors, **more)


def _attend(usual: Callable[..., Any], module: nn.Module, *tensors: Any, **more: Any) -> Any:
    """Attention from queries, keys and values, the first of the tensors, each [B, M, T, D]."""
    seen = called.get()
    if seen is not None:
        seen.append(module)
    tap = next(module.__dict__.get(_TAPS, iter(())), None)
    if tap is None:
        return usual(module, *tensors, **more)
    if tap.rows is not None:
        tap.weights = _weights_of_rows(module, tap.rows, *tensors, **more)
        return usual(module, *tensors, **more)
    output, weights = _eager_of(module)(module, *tensors, **more)
    if weights is None:
        raise _unreadable(module)
    value = tensors[2]
    values = value.repeat_interleave(weights.shape[1] // value.shape[1], 1)  # heads may share values
    if tap.replace is not None:
        weights = tap.replace(weights)
        output = torch.matmul(weights, values).transpose(1, 2).contiguous()  # [B, T, M, D]
    tap.weights, tap.values = weights, values
    return output, weights


def _weights_of_rows(
    module: nn.Module, rows: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Any, **more: Any
) -> Tensor:
    """[B, M, 1, T] the weights of one position of each row: memory grows with T, not with its square."""
    at = rows[:, None, None, None]
    asked = query.gather(2, at.expand(-1, query.shape[1], 1, query.shape[-1]))  # [B, M, 1, D]
    if mask is not None and mask.shape[2] > 1:
        mask = mask.expand(len(rows), -1, -1, -1)
        mask = mask.gather(2, at.expand(-1, mask.shape[1], 1, mask.shape[-1]))
    _, weights = _eager_of(module)(module, asked, key, value, mask, **more)
    if weights is None:
        raise _unreadable(module)
    found: Tensor = weights
    return found


def _eager_of(module: nn.Module) -> Callable[..., Any]:
    """The model's own formulation of attention, which gives its weights."""
    eager: Callable[..., Any] | None
    eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    if eager is None:
        raise _unreadable(module)
    return eager


def _unreadable(module: nn.Module) -> UsageError:
    return UsageError(f"{type(module).__name__} does not give its attention weights: they cannot be read.")
