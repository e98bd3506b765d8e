"""Three tasks on which an accurate focus-classify model attends to the wrong segment.

The background is a box around the origin in each. The paper shows scatter plots without numbers: these
distributions were chosen to show the effects it describes.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from attnx.plugin import Source, Task, TaskData

from .mosaics import blob_bases, make_mosaics
from .options import Blob, Sizes

Array = np.ndarray[Any, Any]


class _ErrorMode(Task):
    """Boxes in the plane, and the focus f* that scores every foreground segment highest."""

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
    """Error mode 1: training finds an accurate model that treats one foreground class as background.

    Mosaics of points in the plane, of which one foreground point decides the label. f* = 50·x₁ and a
    linear classifier are perfect, but training finds f ≈ x₁ + x₂: class 2 scores below the background,
    and the classifier recognises class 2 by the little weight that remains on it. Needs no files.
    """

    foreground = ((0.5, 2.5), (0.5, -1), (2.5, 0.5))
    spread = 0.2

    def oracle(self, x: Array) -> Array:
        return 50 * x[:, 0]


class ErrorMode2(_ErrorMode):
    """Error mode 2: a linear model is accurate although no linear focus finds the foreground.

    Mosaics of points in the plane, of which one foreground point decides the label. The background lies
    inside the triangle of the foreground classes, so every linear focus scores one of them below it. f* =
    20·‖x‖² is perfect and not linear. Needs no files.
    """

    foreground = ((-2, 2), (0, -1), (2, 2))
    spread = 0.2

    def oracle(self, x: Array) -> Array:
        return 20 * np.square(x).sum(1)


class ErrorMode3(_ErrorMode):
    """Error mode 3: a strong classifier becomes accurate before a good focus is learned.

    Mosaics of points in the plane, of which one foreground point decides the label. f* = −200·x₁ and a
    linear classifier are perfect, but even with equal weights the six classes differ along x₂, and a ReLU
    classifier learns that before the focus learns x₁. Needs no files.
    """

    foreground = ((-0.2, -4), (-0.2, -3), (-0.2, -2), (-0.2, 2), (-0.2, 3), (-0.2, 4))
    spread = 0.02

    def oracle(self, x: Array) -> Array:
        return -200 * x[:, 0]
