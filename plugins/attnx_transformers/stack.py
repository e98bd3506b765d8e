"""The layers of a transformer: which module attends in which, and how a pass begins above some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from attnx.plugin import UsageError

from .first_position import FirstPosition, alike
from .taps import Calls, Tap, called, tapped

TOLERANCE = 1e-3  # of a sum of weights

WITHOUT_WEIGHTS = "Give attention=none to explain it without them."

Modules = tuple[nn.Module, ...]


@dataclass(frozen=True)
class Stack:
    """What one pass through a transformer goes through, bottom to top."""

    attentions: Modules  # one for each layer; a module may serve several
    outputs: Modules  # the linear map that mixes the heads of each layer
    blocks: Modules  # the layers themselves, where each has one attention
    extra: int = -1  # what a block gives in addition to its states in a tuple; -1: states alone
    # What of the last block is computed for its first position alone.
    first: FirstPosition = field(default_factory=FirstPosition)

    def __len__(self) -> int:
        return len(self.attentions)

    @classmethod
    def of(cls, network: nn.Module, call: Callable[[], Any]) -> Stack:
        """The layers that a call of the network goes through; refused where weights cannot be read."""
        attentions, outputs, asking = _in_order(network, call)
        if not attentions or len(outputs) != len(attentions):
            raise UsageError(
                f"{type(network).__name__} does not attend through the attention interface of transformers: "
                f"its weights cannot be read. {WITHOUT_WEIGHTS}"
            )
        taps = [Tap() for _ in attentions]
        with torch.no_grad():
            own = call()[0]
            with tapped(attentions, taps):
                read = call()[0]
        if not alike(read, own):
            raise UsageError(
                f"{type(network).__name__} gives another output while its attention weights are read: "
                f"they cannot be read. {WITHOUT_WEIGHTS}"
            )
        for layer, tap in enumerate(taps):
            sums = tap.weights.sum(-1)
            if not torch.allclose(sums, torch.ones_like(sums), atol=TOLERANCE):
                raise UsageError(
                    f"The attention weights of layer {layer} of {type(network).__name__} do not add up to 1: "
                    f"they cannot be read as attention. {WITHOUT_WEIGHTS}"
                )
        blocks = _blocks(network, attentions)
        whole = cls(attentions, outputs, blocks, _extra(blocks, call))
        if not _can_begin(whole, call):
            return cls(attentions, outputs, ())
        return replace(
            whole, first=FirstPosition.of(blocks[-1], attentions[-1], (*asking, outputs[-1]), call)
        )

    @contextmanager
    def read(self, taps: dict[int, Tap]) -> Iterator[None]:
        """Set taps at these layers for one pass."""
        with tapped(self.attentions, [taps.get(layer) for layer in range(len(self))]):
            yield

    @contextmanager
    def watch(self, layer: int, seen: list[Tensor]) -> Iterator[None]:
        """Put down the states [B, T, H] that a layer reads."""

        def note(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            seen.append(args[0] if args else kwargs["hidden_states"])

        handle = self.blocks[layer].register_forward_pre_hook(note, with_kwargs=True)
        try:
            yield
        finally:
            handle.remove()

    @contextmanager
    def begin_at(self, layer: int, states: Tensor) -> Iterator[None]:
        """Let a layer read these states [B, T, H], and skip those below."""
        given = states if self.extra < 0 else (states, *[None] * self.extra)

        def hand_over(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return ((states, *args[1:]), kwargs) if args else (args, kwargs | {"hidden_states": states})

        handle = self.blocks[layer].register_forward_pre_hook(hand_over, with_kwargs=True)
        for block in self.blocks[:layer]:
            block.forward = lambda *_, **__: given
        try:
            yield
        finally:
            handle.remove()
            for block in self.blocks[:layer]:
                block.__dict__.pop("forward", None)

    def sizes(self, layer: int, values: Tensor) -> Tensor:
        """[B, M, T] ‖v_i W_O‖ of values [B, M, T, D], by the part of W_O that belongs to each head."""
        weight: Tensor = self.outputs[layer].weight  # type: ignore[assignment]
        into = weight.T if isinstance(self.outputs[layer], nn.Linear) else weight  # [M·D, H]
        by_head = into.reshape(values.shape[1], values.shape[-1], -1)  # [M, D, H]
        gram = by_head @ by_head.mT  # [M, D, D]
        return torch.einsum("bmtd,mde,bmte->bmt", values, gram, values).clamp_min(0).sqrt()


def _in_order(network: nn.Module, call: Callable[[], Any]) -> tuple[Modules, Modules, Modules]:
    """The modules that attend in a pass, and for each the first linear map that is used after it.

    The third are the linear maps that give the queries of the last one as they are, if there are any.
    """
    from transformers.pytorch_utils import Conv1D

    seen: Calls = []  # of both kinds, with what linear maps give
    linear = [module for module in network.modules() if isinstance(module, nn.Linear | Conv1D)]
    with ExitStack() as stack:
        for module in linear:
            handle = module.register_forward_hook(lambda module, _, output: seen.append((module, output)))
            stack.callback(handle.remove)
        token = called.set(seen)
        stack.callback(called.reset, token)
        with torch.no_grad():
            call()
    known = set(map(id, linear))
    attentions = [place for place, (module, _) in enumerate(seen) if id(module) not in known]
    following = [seen[place + 1 : place + 2] for place in attentions]
    outputs = [found[0][0] for found in following if found and id(found[0][0]) in known]
    queries = [seen[place][1] for place in attentions[-1:]]
    asking = [
        module for module, given in seen if id(module) in known and any(_same(given, q) for q in queries)
    ]
    return tuple(seen[place][0] for place in attentions), tuple(outputs), tuple(asking)


def _same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are the same numbers in memory, in whatever shape."""
    return a.numel() == b.numel() and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def _blocks(network: nn.Module, attentions: Sequence[nn.Module]) -> Modules:
    """The list of layers, each of which holds one of the attentions; nothing where there is none."""
    for module in network.modules():
        if isinstance(module, nn.ModuleList) and len(module) == len(attentions):
            holds = (a in set(block.modules()) for a, block in zip(attentions, module, strict=True))
            if len(set(map(id, attentions))) == len(attentions) and all(holds):
                return tuple(module)
    return ()


def _extra(blocks: Sequence[nn.Module], call: Callable[[], Any]) -> int:
    """How many things the last block gives in addition to its states; -1 where it gives no tuple."""
    given: list[Any] = []
    with ExitStack() as stack:
        for block in blocks[-1:]:
            handle = block.register_forward_hook(lambda _, __, output: given.append(output))
            stack.callback(handle.remove)
        with torch.no_grad():
            call()
    return len(given[0]) - 1 if given and isinstance(given[0], tuple) else -1


def _can_begin(stack: Stack, call: Callable[[], Any]) -> bool:
    """Whether a pass that begins at the last layer ends as the whole one does."""
    if not stack.blocks:
        return False
    top, states = len(stack) - 1, list[Tensor]()
    with torch.no_grad(), stack.watch(top, states):
        whole = call()[0]
    with torch.no_grad(), stack.begin_at(top, states[0]):
        return alike(call()[0], whole)
