"""Matrix products with weights, by the library that is faster on this processor.

torch multiplies matrices with MKL, which uses half of the width of AVX-512 on processors of AMD; oneDNN,
which torch has as well, uses all of it. Both round differently, in the last digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

FEWEST = 2**16  # multiplications of a product: of fewer, the call itself is most of it


def product(x: Tensor, weight: Tensor, add: Tensor | None = None) -> Tensor:
    """Multiply rows with a matrix, without recording gradients.

    Args:
        x: rows [..., K].
        weight: the matrix [N, K].
        add: what is added to the result [..., N], or None.

    Returns:
        x·weightᵀ + add [..., N].
    """
    if not _faster(x, weight):
        if add is not None and x.ndim == 2:
            return torch.addmm(add, x, weight.mT)
        made = x @ weight.mT
        return made if add is None else made.add_(add)
    if add is None:
        return _by_onednn(x, weight)
    op = torch.ops.mkldnn._linear_pointwise.binary
    found: Tensor = op(x.contiguous(), add.contiguous(), _dense(weight), None, "add")
    return found


def gelu_product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply rows with a matrix and apply GELU to the result, without recording gradients.

    Args:
        x: rows [..., K].
        weight: the matrix [N, K].
        bias: what is added to every row before GELU [N], or None.

    Returns:
        GELU(x·weightᵀ + bias) [..., N].
    """
    if not _faster(x, weight):
        return F.gelu(F.linear(x, weight, bias))
    op = torch.ops.mkldnn._linear_pointwise
    found: Tensor = op(x.contiguous(), _dense(weight), bias, "gelu", [], "none")
    return found


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Map rows by a matrix and a bias, with gradients of all three.

    Args:
        x: rows [..., K].
        weight: the matrix [N, K].
        bias: what is added to every row [N].

    Returns:
        x·weightᵀ + bias [..., N].
    """
    # Without gradients, sizes are of all kinds, and oneDNN would write a program for each of them.
    if (
        torch.is_grad_enabled()
        and bias.ndim == 1
        and _faster(x, weight)
        and not torch.is_autocast_enabled(x.device.type)
    ):
        return _mapped(x, weight, bias)
    return x @ weight.mT + bias


@contextmanager
def fast_linear() -> Iterator[None]:
    """Let linear layers use the faster library, inside this context; not in mixed precision.

    Yields:
        Nothing.
    """
    if not _available():
        yield
        return
    with _FastLinear():
        yield


class _FastLinear(TorchFunctionMode):
    """Every call of a linear layer, whatever module makes it."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if func is F.linear and len(args) >= 2 and not given.keys() - {"bias"}:
            x, weight = args[:2]
            bias = args[2] if len(args) > 2 else given.get("bias")
            if _faster(x, weight) and not torch.is_autocast_enabled(x.device.type):
                return _mapped(x, weight, bias)
        return func(*args, **given)


def _mapped(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x·Wᵀ + b by oneDNN; remembered for gradients only where there will be some."""
    of = (x, weight) if bias is None else (x, weight, bias)
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in of):
        # Of three dimensions, oneDNN's result is a view, which a model may not change in place, as some do.
        rows: Tensor = _Linear.apply(x.flatten(0, -2), weight, bias)  # type: ignore[no-untyped-call]
        return rows.view(*x.shape[:-1], -1)
    return _by_onednn(x, weight, bias)


class _Linear(torch.autograd.Function):
    """x·Wᵀ + b of rows x [R, K]; where gradients are differentiated themselves, they are those of torch."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x if ctx.needs_input_grad[1] else None, weight)
        return _by_onednn(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        by = torch.matmul if torch.is_grad_enabled() else _times
        of_x, of_weight, of_bias = ctx.needs_input_grad
        return (
            by(gradient, weight) if of_x else None,
            by(gradient.mT, x) if of_weight else None,
            gradient.sum(0) if of_bias else None,
        )


def _times(x: Tensor, y: Tensor) -> Tensor:
    return product(x, y.mT)


def _by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    found: Tensor = torch.ops.mkldnn._linear_pointwise(x.contiguous(), _dense(weight), bias, "none", [], "")
    return found


def _dense(weight: Tensor) -> Tensor:
    """The weights without gaps between rows, with which oneDNN is a hundred times slower."""
    return weight if weight.is_contiguous() or weight.mT.is_contiguous() else weight.contiguous()


def _faster(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN takes this product, and is faster at it."""
    return (
        _available()  # asked for every product: cheap questions, the most telling first
        and x.dtype is torch.float32
        and weight.dtype is torch.float32
        and x.numel() * weight.shape[0] >= FEWEST
        and x.is_cpu
        and weight.is_cpu
        and type(x) in (Tensor, torch.nn.Parameter)
        and weight.ndim == 2
        and x.ndim >= 2
    )


@cache
def _available() -> bool:
    """Whether this is a processor on which MKL is slower, and torch has the other library."""
    try:
        vendor = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux
        return False
    return (
        "AuthenticAMD" in vendor
        and torch.backends.mkl.is_available()
        and torch.backends.mkldnn.is_available()
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )
