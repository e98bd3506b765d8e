"""Mosaics of photographs: a training step, and making the mosaics of a batch.

step    64 mosaics of nine segments of 16 and 32 pixels a side through a focus-classify model and back, beside
        the same layers as torch lays images out by default; the limit is the products of its convolutions
making  drawing the mosaics and looking their images up, which is to take a tenth of a step at most
"""

from __future__ import annotations

from copy import deepcopy
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnx.plugin import TaskData, Training
from attnx.run.training.loop import _optimizer, loss
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax
from attnx_sdc.fcam import Fcam
from attnx_sdc.mosaics import Bases, make_mosaics, pooled_bases
from attnx_sdc.options import FcamOptions, Sizes

from .timing import Row, best_of, seconds_of

BATCH = 64
IMAGES = 20_000
REPEATS = 5
TRAINING = Training(learning_rate=0.002)
CLOSE = 1e-2  # of the length of all gradients together


def rows(tiny: bool = False) -> list[Row]:
    """Two for each size of the segments."""
    return [*_rows(8, 200, 1)] if tiny else [*_rows(16), *_rows(32)]


def _rows(pixels: int, images: int = IMAGES, repeats: int = REPEATS) -> list[Row]:
    bases = _bases(pixels, images)
    data = _made(bases)
    torch.manual_seed(0)
    model = Fcam.build(data, Softmax(SoftmaxOptions()), FcamOptions(channels=16))
    plain = _with_plain_layers(model)
    optimizer = _optimizer(model, TRAINING)

    def make() -> None:
        model.embed(model.encode(_made(bases).train))

    batch = model.encode(data.train)

    def pass_and_back(network: Fcam) -> Tensor:
        network.zero_grad(set_to_none=True)
        loss(network, batch).backward()
        return torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss(model, model.encode(data.train)).backward()
        optimizer.step()

    found = {name: pass_and_back(network) for name, network in (("ours", model), ("plain", plain))}
    # Where the largest of four pixels is decided by rounding, its gradient goes another way.
    equal = bool((found["ours"] - found["plain"]).norm() < CLOSE * found["plain"].norm())
    best = best_of(
        repeats,
        {
            "ours": lambda: pass_and_back(model),
            "plain": lambda: pass_and_back(plain),
            "step": step,
            "make": make,
        },
    )
    work = f"{BATCH} mosaics of {pixels} x {pixels} pixels"
    return [
        Row(
            f"training step, {work} / plain layers",
            best["ours"].seconds,
            best["plain"].seconds,
            1.3,
            equal,
            limit=seconds_of(_operations(model, BATCH * 9)),
        ),
        Row(f"making {work}, of a step", best["make"].seconds, best["step"].seconds, 10.0, None),
    ]


class _PlainConvolution(nn.Module):
    """From flat vector to flat vector, in the order of torch: every channel of an image after the other."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.shape, self.convolution, self.pool = layer.shape, layer.convolution, layer.pool

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.convolution(x.reshape(-1, *self.shape)))
        return (nn.functional.max_pool2d(y, 2) if self.pool else y).flatten(1)


def _with_plain_layers(model: Fcam) -> Fcam:
    """A copy of a model whose networks read all rows at once, in torch's own layout."""
    copied = deepcopy(model)
    for network in (copied.focus, copied.classifier):
        network.layers = nn.ModuleList([_PlainConvolution(layer) for layer in network.layers])
        network.at_once = None
    return copied


def _operations(model: Fcam, segments: int) -> float:
    """Floating-point operations of the convolutions of a step: forward, for weights, and for inputs."""
    total = 0.0
    for network, count in ((model.focus, segments), (model.classifier, BATCH)):
        for number, layer in enumerate(network.layers):
            products = 3 if number or network is model.classifier else 2  # photographs need no gradient
            total += 2.0 * count * products * layer.convolution.weight.numel() * prod(layer.shape[1:])
    return total


def _bases(pixels: int, count: int) -> Bases:
    """Noise in place of photographs, in the three splits alike."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (count, 3, pixels, pixels), dtype=np.uint8)
    classes = rng.integers(0, 4, count)
    split = rng.choice(["train", "dev", "test"], count)
    return pooled_bases(images, classes, ["background", "a", "b", "c"], split)


def _made(bases: Bases) -> TaskData:
    return make_mosaics(bases, Sizes(train=BATCH, dev=1, test=1), {})
