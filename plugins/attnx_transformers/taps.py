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
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnx.plugin import UsageError

FAST, EAGER = "attnx-fast", "attnx-eager"  # the names it is registered by
_TAPS = "_attnx_taps"

_FROM_FIRST = "_attnx_from_first"

Calls = list[tuple[nn.Module, Tensor]]

# Modules as they are called: one that attends with its queries [B, M, T, D].
called: ContextVar[Calls | None] = ContextVar("called", default=None)


@dataclass
class Tap:
    """What one attention module shows in one pass, and what takes the place of its weights."""

    replace: Callable[[Tensor], Tensor] | None = None  # weights [B, M, T, T] -> weights
    rows: Tensor | None = None  # [B] the one position whose weights are wanted, where nothing is replaced
    weights: Tensor = field(init=False)  # [B, M, T, T], or [B, M, 1, T] of one position
    shared: Tensor = field(init=False)  # [B, K, T, D] values, each of which several heads may share

    @property
    def values(self) -> Tensor:
        """[B, M, T, D] the values of each head."""
        return _of_heads(self.shared, self.weights)


def install(model: Any) -> None:
    """Let a model of transformers attend through this module."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, eager_mask

    AttentionInterface.register(FAST, _attend_fast)
    AttentionMaskInterface.register(FAST, _needed_mask)
    AttentionInterface.register(EAGER, _attend_eagerly)
    AttentionMaskInterface.register(EAGER, eager_mask)
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


@contextmanager
def from_first(attention: nn.Module) -> Iterator[None]:
    """Let a module attend from the first position alone; the others get what it finds.

    Where its weights are replaced, it attends from all.
    """
    attention.__dict__[_FROM_FIRST] = True
    try:
        yield
    finally:
        attention.__dict__.pop(_FROM_FIRST, None)


def _needed_mask(*sizes: Any, dtype: torch.dtype = torch.float32, **more: Any) -> Tensor | None:
    """[B, 1, T, T], 0 or the least number, as the eager path takes it; none where nothing is padded.

    Without padding the fast path hides what follows by itself, and memory grows with T, not with its square.
    """
    from transformers.masking_utils import sdpa_mask

    sees: Tensor | None = sdpa_mask(*sizes, **more)
    if sees is None:
        return None
    return torch.zeros(sees.shape, dtype=dtype, device=sees.device).masked_fill(~sees, torch.finfo(dtype).min)


def _attend_fast(module: nn.Module, *tensors: Any, **more: Any) -> Any:
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    return _attend(sdpa_attention_forward, module, *tensors, **more)


def _attend_eagerly(module: nn.Module, *tensors: Any, **more: Any) -> Any:
    return _attend(_eager_of(module), module, *tensors, **more)


def _attend(usual: Callable[..., Any], module: nn.Module, *tensors: Any, **more: Any) -> Any:
    """Attention from queries, keys and values, the first of the tensors, each [B, M, T, D]."""
    seen = called.get()
    if seen is not None:
        seen.append((module, tensors[0]))
    if _FROM_FIRST in module.__dict__:
        usual = partial(_repeated, usual)
    tap = next(module.__dict__.get(_TAPS, iter(())), None)
    if tap is None:
        return usual(module, *tensors, **more)
    if tap.rows is not None:
        tap.weights = _weights_of_rows(module, tap.rows, *tensors, **more)
        tap.shared = tensors[2]
        return usual(module, *tensors, **more)
    query, key, value, mask = tensors[:4]
    if mask is None and _hides_what_follows(module, query, more):
        places = torch.arange(key.shape[2], device=key.device)
        mask = _hiding(places[None, None, None] > places[-query.shape[2] :, None], query)  # [1, 1, T, T]
    output, weights = _eager_of(module)(module, query, key, value, mask, *tensors[4:], **more)
    if weights is None:
        raise _unreadable(module)
    if tap.replace is not None:
        weights = tap.replace(weights)
        output = torch.matmul(weights, _of_heads(value, weights)).transpose(1, 2).contiguous()  # [B, T, M, D]
    tap.weights, tap.shared = weights, value
    return output, weights


def _repeated(
    usual: Callable[..., Any],
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Any,
    *rest: Any,
    **more: Any,
) -> Any:
    """What attention from the first position finds, [B, T, M, D] for every position."""
    seen = None if mask is None else mask[:, :, :1]
    output, weights = usual(module, query[:, :, :1], key, value, seen, *rest, **more)
    return output.expand(-1, query.shape[2], -1, -1), weights


def _weights_of_rows(
    module: nn.Module, rows: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Any, **more: Any
) -> Tensor:
    """[B, M, 1, T] the weights of one position of each row: memory grows with T, not with its square."""
    at = rows[:, None, None, None]
    asked = query.gather(2, at.expand(-1, query.shape[1], 1, query.shape[-1]))  # [B, M, 1, D]
    if mask is not None and mask.shape[2] > 1:
        mask = mask.expand(len(rows), -1, -1, -1)
        mask = mask.gather(2, at.expand(-1, mask.shape[1], 1, mask.shape[-1]))
    elif mask is None and _hides_what_follows(module, query, more):
        mask = _hiding(torch.arange(key.shape[2], device=key.device) > at, query)  # [B, 1, 1, T]
    _, weights = _eager_of(module)(module, asked, key, value, mask, **more)
    if weights is None:
        raise _unreadable(module)
    found: Tensor = weights
    return found


def _hides_what_follows(module: nn.Module, query: Tensor, more: dict[str, Any]) -> bool:
    """Whether the fast path hides from each position what follows it where it is given no mask."""
    asked = more.get("is_causal")
    causal: bool = getattr(module, "is_causal", True) if asked is None else asked
    return query.shape[2] > 1 and causal


def _hiding(hidden: Tensor, query: Tensor) -> Tensor:
    """The mask that hides these positions."""
    return torch.zeros(hidden.shape, dtype=query.dtype, device=query.device).masked_fill(
        hidden, torch.finfo(query.dtype).min
    )


def _of_heads(value: Tensor, weights: Tensor) -> Tensor:
    """[B, M, T, D] the values of each head, which several may share."""
    return value.repeat_interleave(weights.shape[1] // value.shape[1], 1)


def _eager_of(module: nn.Module) -> Callable[..., Any]:
    """The model's own formulation of attention, which gives its weights."""
    eager: Callable[..., Any] | None
    eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    if eager is None:
        raise _unreadable(module)
    return eager


def _unreadable(module: nn.Module) -> UsageError:
    return UsageError(f"{type(module).__name__} does not give its attention weights: they cannot be read.")
