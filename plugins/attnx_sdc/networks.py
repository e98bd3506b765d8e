"""The networks f and g: a stack of hidden layers, and a linear head."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod

import torch
from torch import Tensor, nn

HIDDEN_LAYERS = {"linear": 0, "relu": 1, "mlp": 2}
CONVOLUTIONS = 6
AT_ONCE = 1024  # rows of a pass without gradients


class Network(nn.Module):
    """Hidden layers with access to the output of each, and a linear head.

    Inputs and outputs of every layer are flat vectors; a convolution restores the image shape. No layer
    depends on other rows: there is no batch normalisation.
    """

    def __init__(self, layers: Sequence[nn.Module], head: nn.Module, sizes: Sequence[int]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.head = head
        self.sizes = tuple(sizes)  # of the vector before each layer, and after the last

    def up_to(self, x: Tensor, layer: int) -> Tensor:
        """The output of hidden layer number `layer`; number 0 is the input."""
        return _in_parts(self.layers[:layer], x)

    def from_layer(self, x: Tensor, layer: int) -> Tensor:
        """The network's output from the output of hidden layer number `layer`."""
        return _in_parts([*self.layers[layer:], self.head], x)

    def forward(self, x: Tensor) -> Tensor:
        return self.from_layer(x, 0)


def _in_parts(modules: Iterable[nn.Module], x: Tensor) -> Tensor:
    """Apply modules one after the other; without gradients on few rows at a time to save memory."""
    chain = nn.Sequential(*modules)
    rows = x.flatten(0, -2)
    if torch.is_grad_enabled() or len(rows) <= AT_ONCE or not len(chain):
        found: Tensor = chain(x)
        return found
    return torch.cat([chain(part) for part in rows.split(AT_ONCE)]).unflatten(0, x.shape[:-1])


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
    layers: list[nn.Module] = []
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
    return Network(layers, head, sizes)


class _Convolution(nn.Module):
    """A 3 x 3 convolution, ReLU and maybe 2 x 2 pooling, from flat vector to flat vector."""

    def __init__(self, shape: tuple[int, int, int], channels: int, pool: bool) -> None:
        super().__init__()
        self.shape = shape
        self.convolution = nn.Conv2d(shape[0], channels, 3, padding=1)
        self.pool = pool
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        rows = x.shape[:-1]
        y = torch.relu(self.convolution(x.reshape(-1, *self.shape)))  # [rows, channels, h, w]
        if self.pool:
            y = nn.functional.max_pool2d(y, 2)
        return y.reshape(*rows, -1)
