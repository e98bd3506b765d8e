"""Making the mosaics of a batch beside the training step that uses them.

ours    drawing 64 mosaics of nine segments and looking their images up, 16 and 32 pixels a side
limit   the training step of a focus-classify model on them; making them is to take a tenth at most
"""

from __future__ import annotations

import numpy as np
import torch

from attnx.plugin import TaskData, Training
from attnx.run.training.loop import _optimizer, loss
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax
from attnx_sdc.fcam import Fcam
from attnx_sdc.mosaics import Bases, make_mosaics, pooled_bases
from attnx_sdc.options import FcamOptions, Sizes

from .timing import Row, best_of

BATCH = 64
IMAGES = 20_000
REPEATS = 5
TRAINING = Training(learning_rate=0.002)


def rows(tiny: bool = False) -> list[Row]:
    """One for each size of the segments."""
    return [_row(8, 200)] if tiny else [_row(16), _row(32)]


def _row(pixels: int, images: int = IMAGES) -> Row:
    bases = _bases(pixels, images)
    data = _made(bases)
    torch.manual_seed(0)
    model = Fcam.build(data, Softmax(SoftmaxOptions()), FcamOptions(channels=16))
    optimizer = _optimizer(model, TRAINING)

    def make() -> None:
        model.embed(model.encode(_made(bases).train))

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss(model, model.encode(data.train)).backward()
        optimizer.step()

    best = best_of(REPEATS, {"ours": make, "limit": step})
    work = f"making {BATCH} mosaics of {pixels} x {pixels} pixels, of a step"
    return Row(work, best["ours"].seconds, best["limit"].seconds, 10.0, None)


def _bases(pixels: int, count: int) -> Bases:
    """Noise in place of photographs, in the three splits alike."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (count, 3, pixels, pixels), dtype=np.uint8)
    classes = rng.integers(0, 4, count)
    split = rng.choice(["train", "dev", "test"], count)
    return pooled_bases(images, classes, ["background", "a", "b", "c"], split)


def _made(bases: Bases) -> TaskData:
    return make_mosaics(bases, Sizes(train=BATCH, dev=1, test=1), {})
