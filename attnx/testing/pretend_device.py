"""A pretend accelerator, so that what mixes devices fails on a machine that has none.

    with pretend_device() as device:
        model.to(device)

Inside, tensors on `device` say that they are on cuda:0, compute on the CPU, and refuse the company of
tensors that are there, in the cases in which torch does: an index of an accelerator's tensor, a number
without dimensions and the source of a copy may be on the CPU, everything else may not.

To C++ all tensors are on the CPU, so that autograd, recurrent layers and fused optimisers work as they are.
Its memory can be given, as the size of the largest tensor. What it cannot show: kernels that round
differently or do not exist on a device, how memory adds up, speed, streams.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

ACCELERATOR, CPU = torch.device("cuda", 0), torch.device("cpu")

_aten = torch.ops.aten
_COPIES = {_aten.copy_.default, _aten._to_copy.default}
_INDEXING = {_aten.index.Tensor, _aten.index_put.default, _aten.index_put_.default}
_READ_BY_NUMPY: set[Any] = {Tensor.numpy, Tensor.__array__}
_ASKED_OF_A_TENSOR: dict[Any, Any] = {
    Tensor.device.__get__: ACCELERATOR,
    Tensor.is_cuda.__get__: True,  # type: ignore[attr-defined]
    Tensor.is_cpu.__get__: False,  # type: ignore[attr-defined]
    Tensor.get_device: 0,
}


class Elsewhere(Tensor):
    """A tensor that is said to be on the accelerator, around the one on the CPU that it is."""

    here: Tensor

    @staticmethod
    def __new__(cls, here: Tensor) -> Elsewhere:  # noqa: D102
        made: Elsewhere = Tensor._make_wrapper_subclass(
            cls, here.size(), strides=here.stride(), storage_offset=here.storage_offset(), dtype=here.dtype
        )
        made.here = here
        return made

    def __repr__(self) -> str:  # type: ignore[override]
        return f"Elsewhere({self.here!r})"

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _called(func, args, kwargs or {})

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _computed(func, args, kwargs or {})


class _Pretending(TorchFunctionMode):
    """Sees the functions that are given no tensor, such as those that make one."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _called(func, args, kwargs or {})


class _Within(TorchDispatchMode):
    """What a function of torch makes for itself, given tensors of the accelerator, is there too."""

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        out = _computed(func, args, kwargs or {})
        made_of_nothing = not any(isinstance(leaf, Tensor) for leaf in _leaves((args, kwargs)))
        return Elsewhere(out) if made_of_nothing and isinstance(out, Tensor) else out


@contextmanager
def pretend_device(memory: int | None = None) -> Iterator[torch.device]:
    """Pretend that the machine has an accelerator, for as long as the context lasts.

    Args:
        memory: the most bytes that a tensor there may have, or None; a larger one is out of memory.

    Yields:
        The device; tensors on it compute on the CPU and cannot be mixed with those of the CPU.
    """
    future = torch.__future__
    before = future.get_overwrite_module_params_on_conversion()
    future.set_overwrite_module_params_on_conversion(True)  # a parameter that moves is another object
    limit = _memory.set(memory)
    try:
        with warnings.catch_warnings(), _Pretending():
            warnings.filterwarnings("ignore", message="PyTorch was compiled without cuDNN")
            yield ACCELERATOR
    finally:
        _memory.reset(limit)
        future.set_overwrite_module_params_on_conversion(before)


_memory: ContextVar[int | None] = ContextVar("memory", default=None)


class _Leave(torch.autograd.Function):
    """To the CPU; the gradient comes back."""

    @staticmethod
    def forward(_: Any, x: Elsewhere) -> Tensor:
        return x.here.clone()

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> Tensor:
        return Elsewhere(gradient.clone())


class _Arrive(torch.autograd.Function):
    """To the accelerator; the gradient comes back."""

    @staticmethod
    def forward(_: Any, x: Tensor) -> Tensor:
        return Elsewhere(x.detach().clone())

    @staticmethod
    def backward(_: Any, gradient: Elsewhere) -> Tensor:
        return gradient.here.clone()


def _called(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of torch as it was called, before autograd: here tensors move, and are read."""
    first = args[0] if args else None
    if isinstance(first, Elsewhere):
        if func in _ASKED_OF_A_TENSOR:
            return _ASKED_OF_A_TENSOR[func]
        if func in _READ_BY_NUMPY:
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")
        if func is Tensor.tolist:
            return first.here.tolist()
    if func is Tensor.cpu:
        return _moved(first, CPU)
    if func is Tensor.cuda:
        return _moved(first, ACCELERATOR)
    if func is Tensor.to:
        return _converted(first, args[1:], kwargs)
    return _made(func, args, kwargs)


def _made(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function gives, on the device that it is asked for or that its tensors are on."""
    asked = kwargs.get("device")
    there = _is_accelerator(asked) if asked is not None else func is Tensor.new_tensor and _any(args)
    kwargs = {**kwargs, "device": CPU} if asked is not None and there else kwargs
    if there and _is_on_cpu(kwargs.get("generator")):
        raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
    within = _Within() if asked is None and _any((args, kwargs)) else nullcontext()  # type: ignore[no-untyped-call]
    with torch._C.DisableTorchFunctionSubclass(), within:
        made = func(*args, **kwargs)
        if there and isinstance(made, Tensor) and not isinstance(made, Elsewhere):
            return Elsewhere(made.detach()).requires_grad_(made.requires_grad)
        if asked is not None and not there and isinstance(made, Elsewhere):
            return made.here
        return made


def _converted(tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Tensor.to(device), (dtype), (device, dtype) or (other tensor)."""
    wanted = [*args, *(kwargs[name] for name in ("device", "dtype", "other") if kwargs.get(name) is not None)]
    device, dtype = tensor.device, tensor.dtype
    for want in wanted:
        if isinstance(want, Tensor):
            device, dtype = want.device, want.dtype
        elif isinstance(want, torch.dtype):
            dtype = want
        elif isinstance(want, str | torch.device):
            device = torch.device(want)
    moved = _moved(tensor, device)
    if dtype == tensor.dtype:
        return moved.clone() if kwargs.get("copy") and moved is tensor else moved
    with torch._C.DisableTorchFunctionSubclass():
        return moved.to(dtype)


def _moved(tensor: Any, device: torch.device) -> Tensor:
    """The tensor on that device, itself if it is there."""
    if _is_accelerator(device) == isinstance(tensor, Elsewhere):
        return tensor
    moved: Tensor = (_Arrive if _is_accelerator(device) else _Leave).apply(tensor)  # type: ignore[no-untyped-call]
    return moved.detach() if isinstance(tensor, torch.nn.Parameter) or not tensor.requires_grad else moved


def _computed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A kernel, below autograd: all its tensors are on one device."""
    tensors = [leaf for leaf in _leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    elsewhere = [tensor for tensor in tensors if isinstance(tensor, Elsewhere)]
    strangers = [tensor for tensor in tensors if not isinstance(tensor, Elsewhere) and tensor.dim() > 0]
    indices = func in _INDEXING and isinstance(args[0], Elsewhere)
    if elsewhere and strangers and func not in _COPIES and not indices:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two, cuda:0 and cpu ({func})"
        )
    if elsewhere and _is_on_cpu(kwargs.get("generator")):
        raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
    inner_args, inner_kwargs = _mapped(_inner, (args, kwargs))
    # What inference mode makes cannot be wrapped. Leaving it would also turn gradients on, and some kernels,
    # such as that of an LSTM, round in another way where gradients may follow.
    gradients = torch.is_grad_enabled()
    with torch.inference_mode(False), torch.set_grad_enabled(gradients):
        out = func(*inner_args, **inner_kwargs)
        if not elsewhere:
            return out
        _check_memory(out)
        if torch.Tag.inplace_view in func.tags:  # the shape that is said changes with the shape that is
            with no_dispatch():
                func(*args, **kwargs)
        known = {id(tensor.here): tensor for tensor in elsewhere}  # what an operation in place gives back
        return _mapped(lambda t: _outer(t, known), out)


def _check_memory(out: Any) -> None:
    """Refuse a result that is larger than the memory of the device, as torch does."""
    most = _memory.get()
    sizes = [leaf.nbytes for leaf in _leaves((out,)) if isinstance(leaf, Tensor)]
    if most is not None and max(sizes, default=0) > most:
        raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {max(sizes)} bytes.")


def _inner(value: Any) -> Any:
    return value.here if isinstance(value, Elsewhere) else value


def _outer(value: Any, known: dict[int, Elsewhere]) -> Any:
    if not isinstance(value, Tensor):
        return value
    return known[id(value)] if id(value) in known else Elsewhere(value)


def _any(args: Any) -> bool:
    return any(isinstance(leaf, Elsewhere) for leaf in _leaves(args))


def _leaves(values: Any) -> Iterator[Any]:
    """Everything in tuples, lists and dictionaries; torch's own way of it takes ten times as long."""
    for value in values.values() if isinstance(values, dict) else values:
        if isinstance(value, tuple | list | dict):
            yield from _leaves(value)
        else:
            yield value


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """The same tuples, lists and dictionaries around what was changed."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind(_mapped(change, inner) for inner in value)
    if kind is dict:
        return {key: _mapped(change, inner) for key, inner in value.items()}
    return tree_map(change, value) if isinstance(value, tuple) else change(value)  # one with named fields


def _is_accelerator(device: Any) -> bool:
    return torch.device(device).type == ACCELERATOR.type


def _is_on_cpu(generator: Any) -> bool:
    return isinstance(generator, torch.Generator) and generator.device.type == "cpu"
