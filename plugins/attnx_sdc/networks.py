"""The networks f and g: a stack of hidden layers, and a linear head."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import torch
from torch import Tensor, nn

HIDDEN_LAYERS = {"linear": 0, "relu": 1, "mlp": 2}
CONVOLUTIONS = 6
AT_ONCE = 1024  # rows of a pass without gradients
# Bytes of the largest output of a layer that images pass through at once: what they need stays in the caches,
# and memory is not given back to the system and fetched again in every step, which takes a quarter of it.
IN_CACHE = 2**21 + 2**19


class Network(nn.Module):
    """Hidden layers with access to the output of each, and a linear head.

    Inputs and outputs are flat vectors; between convolutions they are images. No layer depends on other
    rows: there is no batch normalisation.
    """

    def __init__(
        self, layers: Sequence[nn.Module], head: nn.Module, sizes: Sequence[int], at_once: int | None = None
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.head = head
        self.sizes = tuple(sizes)  # of the vector before each layer, and after the last
        self.at_once = at_once  # rows of a pass with gradients; None: all

    def up_to(self, x: Tensor, layer: int) -> Tensor:
        """The output of hidden layer number `layer`; number 0 is the input."""
        return self._pass([*self.layers[:layer]], x)

    def from_layer(self, x: Tensor, layer: int) -> Tensor:
        """The network's output from the output of hidden layer number `layer`."""
        return self._pass([*self.layers[layer:], self.head], x)

    def forward(self, x: Tensor) -> Tensor:
        return self.from_layer(x, 0)

    def _pass(self, modules: Sequence[nn.Module], x: Tensor) -> Tensor:
        """Apply modules one after the other, to few rows at a time where that saves memory or time."""
        if not modules:
            return x
        rows = x.flatten(0, -2)
        at_once = self.at_once or (len(rows) if torch.is_grad_enabled() else AT_ONCE)
        found = [_chain(modules, part) for part in rows.split(max(1, at_once))]
        return torch.cat(found).unflatten(0, x.shape[:-1])


def _chain(modules: Sequence[nn.Module], x: Tensor) -> Tensor:
    """The output of modules applied to rows [N, E], as rows again."""
    for module in modules:
        if isinstance(module, _Convolution):
            x = module(x.unflatten(1, module.shape) if x.ndim == 2 else x)
        else:
            x = module(x.flatten(1))
    return x.flatten(1)


def make_network(kind: str, shape: tuple[int, ...], outputs: int, width: int, channels: int) -> Network:
    """A linear, relu, mlp or cnn network for inputs of that shape."""
    if kind == "cnn" and len(shape) == 3:
        return _cnn(shape, outputs, width, channels)
    hidden = HIDDEN_LAYERS.get(kind, 1)  # past its convolutions a cnn has one hidden layer left
    sizes = [prod(shape), *[width] * hidden]
    layers = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in pairwise(sizes)]
    return Network(layers, nn.Linear(sizes[-1], outputs), sizes)


def _cnn(shape: tuple[int, ...], outputs: int, width: int, channels: int) -> Network:
    """Six convolutions, halving the image after every second, then two fully connected layers."""
    depth, height, side = shape
    layers: list[_Convolution] = []
    sizes = [prod(shape)]
    for number in range(CONVOLUTIONS):
        after = channels * 2 ** (number // 2)
        pool = number % 2 == 1 and min(height, side) > 1
        layers.append(_Convolution((depth, height, side), after, pool))
        depth = after
        if pool:
            height, side = height // 2, side // 2
        sizes.append(depth * height * side)
    head = nn.Sequential(nn.Linear(sizes[-1], width), nn.ReLU(), nn.Linear(width, outputs))
    largest = max(layer.convolution.out_channels * prod(layer.shape[1:]) for layer in layers)
    return Network(layers, head, sizes, at_once=max(1, IN_CACHE // (4 * largest)))


class _Convolution(nn.Module):
    """A 3 x 3 convolution, ReLU and maybe 2 x 2 pooling of images, channel after channel in every pixel."""

    def __init__(self, shape: tuple[int, int, int], channels: int, pool: bool) -> None:
        super().__init__()
        self.shape = shape
        self.convolution = nn.Conv2d(shape[0], channels, 3, padding=1)
        self.pool = pool
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        y = self.convolution(x.contiguous(memory_format=torch.channels_last))  # [rows, channels, h, w]
        # The largest of four after the ReLU is the ReLU of the largest, and that is a quarter of the work.
        return torch.relu(nn.functional.max_pool2d(y, 2) if self.pool else y)
