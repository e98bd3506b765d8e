import zipfile
import zlib

import numpy as np

from attnx.plugin import DataError, Source, Task, TaskData

from .mosaics import Bases, blob_bases, make_mosaics, point_bases
from .options import SdcOptions

# What numpy raises for a file that is not an NPZ file with the right arrays, or is damaged.
UNREADABLE = (
    AttributeError, EOFError, KeyError, RuntimeError, TypeError, ValueError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
FEWEST = 4  # points per class from which every split gets at least one


class Sdc(Task):
    """Mosaics of points from your own base distributions; the one foreground point decides the label.

    A mosaic has nine segments by default (its units); exactly one is foreground and decides the label,
    and it is the rationale. Distributions are mixtures of Gaussians or boxes, or the points of an NPZ
    file.
    """

    provides = ("features", "rationale", "backgrounds")

    def __init__(self, options: SdcOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        return _mosaics(self.options)

    def sample(self) -> TaskData:
        return _mosaics(SdcOptions(train=24, dev=12, test=12))


def _mosaics(options: SdcOptions) -> TaskData:
    if options.file is None:
        bases = blob_bases(options.background, options.foreground)
        return make_mosaics(bases, options, {"source": "generated from mixtures of blobs"})
    return make_mosaics(_file_bases(options), options, {"source": f"points of {options.file.name}"})


def _file_bases(options: SdcOptions) -> Bases:
    assert options.file is not None
    try:
        with options.file.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            points, classes = file["points"], file["classes"]
    except OSError as error:
        raise DataError(f"Cannot read '{options.file}' for task 'sdc': {error.strerror or error}.") from error
    except UNREADABLE as error:
        raise DataError(
            f"'{options.file}' is not an NPZ file with arrays 'points' and 'classes': {error}."
        ) from error
    if points.ndim == 0 or points.dtype.kind not in "iuf" or not np.isfinite(points).all():
        raise DataError(f"'{options.file}': 'points' must be finite numbers [N, ...].")
    integers = classes.ndim == 1 and classes.dtype.kind in "iu"
    k = int(classes.max(initial=0)) if integers else 0
    if len(points) != len(classes) or k < 2 or set(np.unique(classes)) != set(range(k + 1)):
        raise DataError(
            f"'{options.file}': 'classes' must give one of 0..k for each point, all used, k at least 2."
        )
    if np.bincount(classes).min() < FEWEST:
        raise DataError(f"'{options.file}': every class needs {FEWEST} points, some for each split.")
    names = ["background", *(f"class {y}" for y in range(1, k + 1))]
    return point_bases(points, classes, names, options.seed)
