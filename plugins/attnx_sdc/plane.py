from attnx.plugin import Source, Task, TaskData

from .mosaics import blob_bases, make_mosaics
from .options import Blob, Sdc2dOptions

FOREGROUND = ((4, 6.5), (5.5, 6), (4.5, 4.5))
BACKGROUND = ((3, 3.5), (2.5, 5.5), (3.5, 8), (5.5, 8), (7, 6.5), (6.5, 4.5), (5, 3))


class Plane(Task):
    """Mosaics of points in the plane from ten Gaussians; the one foreground point decides the label.

    A mosaic has nine segments by default (its units); exactly one is foreground and decides the label,
    and it is the rationale. Three of the ten Gaussians are foreground. Their variance is .01 and their
    means are those of the paper. Needs no files.
    """

    provides = ("features", "rationale", "plane", "backgrounds")

    def __init__(self, options: Sdc2dOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        background = [Blob(centre=mean) for mean in BACKGROUND]
        foreground = [[Blob(centre=mean)] for mean in FOREGROUND]
        return make_mosaics(
            blob_bases(background, foreground), self.options, {"source": "generated from ten Gaussians"}
        )

    def sample(self) -> TaskData:
        return Plane(Sdc2dOptions(train=24, dev=12, test=12)).load(Source())
