"""The states of all layers of a transformer in one pass, and what attention hands on in each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnx.formulas import LayerState, fast_linear
from attnx.plugin import UsageError

from ..first_position import alike
from ..network import Network
from ..packing import Packing
from ..taps import Tap, tapped


@dataclass
class _Seen:
    """What hooks put down of one layer in one pass."""

    tap: Tap = field(default_factory=Tap)
    args: tuple[Any, ...] = ()  # that the layer is called with
    kwargs: dict[str, Any] = field(default_factory=dict)
    states: Tensor = field(init=False)  # [B, T, H] that it gives
    attended: Tensor | None = None  # [B, T, H] what the map that mixes the heads gives
    projected: list[tuple[nn.Module, Tensor]] = field(default_factory=list)  # linear maps before attention
    before: list[Tensor] = field(default_factory=list)  # what normalisations before attention read
    after: list[tuple[nn.Module, Tensor]] = field(default_factory=list)  # those after it

    @property
    def inputs(self) -> Tensor:
        """[B, T, H] the states that the layer reads."""
        found: Tensor = self.args[0] if self.args else self.kwargs["hidden_states"]
        return found


@dataclass(frozen=True)
class ReadStates:
    """The output of a pass, and its layers."""

    output: Any
    layers: tuple[LayerState, ...]
    last: list[tuple[nn.Module, Tensor, Tensor]]  # the last normalisation, what it reads and gives

    def readout(self, logits: Tensor) -> Tensor | None:
        """[B, C, T, H] the gradient of logits of the output with respect to the states of the last layer."""
        if len(self.last) != 1 or not logits.requires_grad:
            return None
        norm, states, normed = self.last[0]
        with torch.enable_grad():
            found = [
                torch.autograd.grad(logits[:, number].sum(), normed, retain_graph=True)[0]
                for number in range(logits.shape[1])
            ]
        scale = norm_scale(norm, states)
        if scale is None:
            return None
        gradient = torch.stack(found, dim=1).detach() * scale[:, None]  # [B, C, T, H]
        return gradient - gradient.mean(-1, keepdim=True) if centres(norm) else gradient


def states_of(network: Network, packing: Packing, vectors: Tensor, **more: Any) -> ReadStates:
    """The states of all layers of a pass from vectors [B, T, E]."""
    stack = network.stack
    if not stack.blocks:
        raise UsageError(
            f"The layers of {type(network.transformer).__name__} cannot be run one by one, so their states "
            "cannot be read: use rollout, or a method that needs no layers."
        )
    seen = [_Seen() for _ in stack.blocks]
    last: list[tuple[nn.Module, Tensor, Tensor]] = []
    with ExitStack() as hooks, torch.enable_grad():
        for block, attention, mixes, of in zip(
            stack.blocks, stack.attentions, stack.outputs, seen, strict=True
        ):
            hooks.enter_context(_watched(block, attention, mixes, of))
        hooks.enter_context(_last_norm(network.transformer, stack.blocks, seen, last))
        hooks.enter_context(stack.read({number: of.tap for number, of in enumerate(seen)}))
        output = network(packing, vectors, **more)
    name = type(network.transformer).__name__
    layers = tuple(
        _layer(of, block, attention, mixes, name)
        for of, block, attention, mixes in zip(
            seen, stack.blocks, stack.attentions, stack.outputs, strict=True
        )
    )
    return ReadStates(output, layers, last)


@contextmanager
def _watched(block: nn.Module, attention: nn.Module, mixes: nn.Module, seen: _Seen) -> Iterator[None]:
    """Put down what goes through one layer."""

    def enter(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen.args, seen.kwargs = args, dict(kwargs)

    def leave(_: nn.Module, __: Any, output: Any) -> None:
        seen.states = _first(output)

    def attend(_: nn.Module, __: Any, output: Tensor) -> None:
        seen.attended = output

    def project(module: nn.Module, _: Any, output: Tensor) -> None:
        if seen.attended is None and module is not mixes:
            seen.projected.append((module, output))

    def normalise(module: nn.Module, args: tuple[Any, ...], _: Any) -> None:
        if seen.attended is None:
            seen.before.append(args[0])
        else:
            seen.after.append((module, args[0]))

    with ExitStack() as hooks:
        hooks.callback(block.register_forward_pre_hook(enter, with_kwargs=True).remove)
        hooks.callback(block.register_forward_hook(leave).remove)
        hooks.callback(mixes.register_forward_hook(attend).remove)
        for module in attention.modules():
            if hasattr(module, "weight") and module is not mixes and not is_norm(module):
                hooks.callback(module.register_forward_hook(project).remove)
        for module in block.modules():
            if is_norm(module):
                hooks.callback(module.register_forward_hook(normalise).remove)
        yield


@contextmanager
def _last_norm(
    transformer: nn.Module,
    blocks: tuple[nn.Module, ...],
    seen: list[_Seen],
    last: list[tuple[nn.Module, Tensor, Tensor]],
) -> Iterator[None]:
    """Let gradients begin after the normalisation of the states that the last layer gives."""
    inside = {module for block in blocks for module in block.modules()}

    def begin(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if not hasattr(seen[-1], "states") or not torch.equal(args[0], seen[-1].states):
            return None
        leaf = output.detach().requires_grad_()
        last.append((module, args[0], leaf))
        return leaf

    with ExitStack() as hooks:
        for module in transformer.modules():
            if is_norm(module) and module not in inside:
                hooks.callback(module.register_forward_hook(begin).remove)
        yield


def _layer(of: _Seen, block: nn.Module, attention: nn.Module, mixes: nn.Module, name: str) -> LayerState:
    x, values, weights = of.inputs, of.tap.values, of.tap.weights
    assert of.attended is not None, "every layer attends"
    summed = x + of.attended.view_as(x)
    first = any(torch.equal(read, x) for read in of.before)  # it normalises before it attends
    follows = of.after[0] if of.after else None
    scale, outputs = None, summed
    if follows is not None and not alike(follows[1], summed):
        raise _unknown(name)
    if not first:
        scale = None if follows is None else norm_scale(*follows)
        if follows is None or scale is None:
            raise _unknown(name)
        outputs = follows[0](summed)
    return LayerState(
        inputs=x,
        weights=weights,
        handed=handed_on(mixes, values - _value_bias(of.projected, values)),
        outputs=outputs,
        scale=scale,
        centres=follows is not None and not first and centres(follows[0]),
        states=of.states,
        without_value=partial(_without_value, of, block, attention),
    )


def handed_on(mixes: nn.Module, values: Tensor) -> Tensor:
    """[B, M, T, H] v_j W_O of values [B, M, T, D], by the part of W_O that belongs to each head."""
    weight: Tensor = mixes.weight  # type: ignore[assignment]
    into = weight.T if isinstance(mixes, nn.Linear) else weight  # [M·D, H]
    return torch.einsum("bmtd,mdh->bmth", values, into.reshape(values.shape[1], values.shape[-1], -1))


def _value_bias(projected: list[tuple[nn.Module, Tensor]], values: Tensor) -> Tensor:
    """[M, 1, D] the bias in values [B, M, T, D]; 0 where no map is found that gives them, or it has none."""
    rows, heads, positions, size = values.shape
    for module, output in projected:
        bias: Tensor | None = getattr(module, "bias", None)
        flat = output.reshape(rows, positions, -1)
        for own in (heads, *(number for number in range(1, heads) if heads % number == 0)):
            width = own * size
            if flat.shape[-1] % width or bias is None:
                continue
            split = flat[..., -width:].unflatten(-1, (own, size)).transpose(1, 2)  # [B, own, T, D]
            if torch.equal(split.repeat_interleave(heads // own, 1), values):
                return bias[-width:].view(own, 1, size).repeat_interleave(heads // own, 0)
    return values.new_zeros(heads, 1, size)


def _without_value(
    of: _Seen, block: nn.Module, attention: nn.Module, rows: Tensor, positions: Tensor
) -> Tensor:
    """[R, T, H] the states that a layer gives when the value of one position of each row is 0."""
    kept = torch.arange(of.inputs.shape[1], device=rows.device) != positions[:, None]  # [R, T]
    tap = Tap(lambda weights: weights * kept[:, None, None])
    args, kwargs = (_taken(given, rows, len(of.inputs)) for given in (of.args, of.kwargs))
    with torch.no_grad(), fast_linear(), tapped([attention], [tap]):
        return _first(block(*args, **kwargs))


def _taken(given: Any, rows: Tensor, size: int) -> Any:
    """What belongs to these rows, in whatever a layer is called with; nothing is remembered between calls."""
    from transformers import Cache

    if isinstance(given, Cache):
        return None
    if isinstance(given, Tensor):
        return given[rows] if given.ndim > 1 and len(given) == size else given
    if isinstance(given, tuple | list):
        return type(given)(_taken(one, rows, size) for one in given)
    if isinstance(given, dict):
        return {name: _taken(one, rows, size) for name, one in given.items()}
    return given


def is_norm(module: nn.Module) -> bool:
    """Whether a module normalises states by their size."""
    return isinstance(module, nn.LayerNorm) or type(module).__name__.endswith("RMSNorm")


def centres(norm: nn.Module) -> bool:
    """Whether a normalisation subtracts the mean."""
    return isinstance(norm, nn.LayerNorm)


def norm_scale(norm: nn.Module, x: Tensor) -> Tensor | None:
    """[..., H] the factors of a normalisation at states x [..., H]; None if it computes something else."""
    centred = x - x.mean(-1, keepdim=True) if centres(norm) else x
    small = getattr(norm, "eps", getattr(norm, "variance_epsilon", 0.0))
    weight: Tensor = norm.weight  # type: ignore[assignment]
    scale = (centred.pow(2).mean(-1, keepdim=True) + small).rsqrt() * weight
    bias = getattr(norm, "bias", None)
    made = centred * scale + (0.0 if bias is None else bias)
    return scale if alike(made, norm(x)) else None


def _first(output: Any) -> Tensor:
    """The states of what a layer gives: states, or these and more in a tuple."""
    states: Tensor = output[0] if isinstance(output, tuple) else output
    return states


def _unknown(name: str) -> UsageError:
    return UsageError(
        f"The layers of {name} normalise in a way that is not known here, neither before attention nor after "
        "it with the residual: use rollout or value-free methods such as gradients."
    )
