"""Local gradients changed for one pass, so that gradient times input shares out relevance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from attnx.plugin import Model

ACTIVATIONS = (
    F.gelu, F.silu, F.relu, F.tanh, F.sigmoid, F.elu, F.mish, F.softplus, F.leaky_relu,
    torch.tanh, torch.relu, torch.sigmoid, Tensor.tanh, Tensor.relu, Tensor.sigmoid,
)  # fmt: skip
PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.mul, Tensor.mul,
            Tensor.__mul__, Tensor.__rmul__, torch.einsum)  # fmt: skip
ROOTS = (torch.rsqrt, Tensor.rsqrt)  # of variances, in normalisations that are written out
SOFTMAX = (F.softmax, torch.softmax, Tensor.softmax)
SHARED = (0.25, 0.25, 0.5)  # queries and keys are in two products, values in one


class RelevanceRules:
    """A context in which a model runs under the rules; the model is as it was afterwards."""

    def __init__(self, model: Model, *, fixed: bool = False) -> None:
        self._model: Any = model
        self._mode = _Rules(fixed)
        self._hooks = ExitStack()

    def __enter__(self) -> Self:
        modules = self._model.modules()
        for module in modules:
            if _is_activation(module):  # one that is written out in several steps is still one function
                module.forward = self._one_function(module.forward)
                self._hooks.callback(module.__dict__.pop, "forward", None)
        self._hooks.enter_context(self._mode)
        return self

    def __exit__(self, *exc: Any) -> None:
        self._hooks.close()

    def _one_function(self, forward: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def call(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            with self._mode.off():
                return straight(forward, x, *args, **kwargs)

        return call


class _Rules(TorchFunctionMode):
    """Changes what functions of torch hand back in the backward pass."""

    def __init__(self, fixed: bool) -> None:
        super().__init__()
        self.fixed, self.on = fixed, True

    @contextmanager
    def off(self) -> Iterator[None]:
        """Change nothing inside."""
        self.on = False
        try:
            yield
        finally:
            self.on = True

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not self.on:
            return func(*args, **kwargs)
        if func is F.layer_norm:
            return layer_norm(*args, **kwargs)
        if func in ACTIVATIONS:
            return straight(func, *args, **kwargs)
        if func in ROOTS:
            return func(*args, **kwargs).detach()
        if func in SOFTMAX and self.fixed:
            return func(*args, **kwargs).detach()
        if func is F.scaled_dot_product_attention:
            shares = (0.0, 0.0, 1.0) if self.fixed else SHARED
            factors = [passing(x, share) for x, share in zip(args[:3], shares, strict=True)]
            attend: Any = func
            return attend(*factors, *args[3:], **kwargs)
        first = 1 if func is torch.einsum else 0  # an einsum begins with its equation
        factors = args[first : first + 2]
        if func in PRODUCTS and all(isinstance(x, Tensor) and x.requires_grad for x in factors):
            halves = [passing(x, 0.5) for x in factors]
            return func(*args[:first], *halves, *args[first + 2 :], **kwargs)
        return func(*args, **kwargs)


def passing(x: Tensor, share: float) -> Tensor:
    """The same numbers, of whose gradient a share is handed back."""
    return x if share == 1 else torch.lerp(x.detach(), x, share) if share else x.detach()


def straight(function: Callable[..., Tensor], x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """f(x) with the slope f(x)/x, so that slope times input is the output; 0 at 0."""
    with torch.no_grad():
        y = function(x, *args, **kwargs)
        slope = torch.where(x == 0, torch.zeros_like(x), y / x.where(x != 0, torch.ones_like(x)))
    return x * slope + (y - x.detach() * slope)  # what is added is 0 but where f(0) is not


def layer_norm(
    x: Tensor, shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """A layer normalisation whose standard deviation is a constant."""
    axes = tuple(range(-len(shape), 0))
    centred = x - x.mean(axes, keepdim=True)
    normed = centred / (centred.detach().pow(2).mean(axes, keepdim=True) + eps).sqrt()
    normed = normed if weight is None else normed * weight
    return normed if bias is None else normed + bias


def _is_activation(module: nn.Module) -> bool:
    """Whether a module is an activation of transformers, which may be written out in several steps."""
    return type(module).__module__ == "transformers.activations" and not list(module.children())
