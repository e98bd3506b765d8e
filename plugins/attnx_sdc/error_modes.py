"""Three ways in which an accurate focus-classify model points at the wrong segment.

The background is a box around the origin in each. The paper shows scatter plots and gives no
numbers: these base distributions were chosen to show the effects it describes.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from attnx.plugin import Source, Task, TaskData

from .mosaics import blob_bases, make_mosaics
from .options import Blob, Sizes

Array = np.ndarray[Any, Any]


class _ErrorMode(Task):
    """Boxes in the plane and the focus f* that would put every foreground segment on top."""

    provides = ("features", "rationale", "plane", "backgrounds")
    foreground: ClassVar[Sequence[tuple[float, float]]]
    spread: ClassVar[float]

    def __init__(self, options: Sizes) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        bases = blob_bases([self._box((0, 0))], [[self._box(centre)] for centre in self.foreground])
        return make_mosaics(bases, self.options, {"source": "generated from boxes"}, self.oracle)

    def sample(self) -> TaskData:
        return type(self)(Sizes(train=24, dev=12, test=12)).load(Source())

    def oracle(self, x: Array) -> Array:
        """f*(x) [N] for points [N, 2]."""
        raise TypeError(f"{type(self).__name__} has no oracle for {len(x)} points")

    def _box(self, centre: tuple[float, float]) -> Blob:
        return Blob(kind="box", centre=centre, spread=self.spread)


class ErrorMode1(_ErrorMode):
    """Training finds an accurate model that takes one foreground class for background.

    f* = 50·x₁ and a linear classifier are perfect, but training finds f ≈ x₁ + x₂: class 2 scores
    below the background, and what is left of it still tells the classifier that it is class 2.
    """

    foreground = ((0.5, 2.5), (0.5, -1), (2.5, 0.5))
    spread = 0.2

    def oracle(self, x: Array) -> Array:
        return 50 * x[:, 0]


class ErrorMode2(_ErrorMode):
    """No linear focus separates foreground from background, yet a linear model is accurate.

    The background lies inside the triangle of the foreground classes, so every linear focus scores
    one of them below it. f* = 20·‖x‖² is perfect and not linear.
    """

    foreground = ((-2, 2), (0, -1), (2, 2))
    spread = 0.2

    def oracle(self, x: Array) -> Array:
        return 20 * np.square(x).sum(1)


class ErrorMode3(_ErrorMode):
    """A strong classifier is accurate before a good focus is learnt.

    f* = −200·x₁ and a linear classifier are perfect, but even equal weights leave the six classes
    apart along x₂, and a ReLU classifier learns that before the focus learns x₁.
    """

    foreground = ((-0.2, -4), (-0.2, -3), (-0.2, -2), (-0.2, 2), (-0.2, 3), (-0.2, 4))
    spread = 0.02

    def oracle(self, x: Array) -> Array:
        return -200 * x[:, 0]
