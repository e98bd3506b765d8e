import zipfile

import numpy as np

from attnx import DataError, Source, Task, TaskData

from .mosaics import Bases, blob_bases, make_mosaics, point_bases
from .options import SdcOptions


class Sdc(Task):
    """Mosaics drawn from any base distributions."""

    provides = ("features", "rationale")

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
        with np.load(options.file, allow_pickle=False) as file:
            points, classes = file["points"], file["classes"]
    except FileNotFoundError as error:
        raise DataError(f"No file '{options.file}' for task 'sdc'.") from error
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(
            f"'{options.file}' is not an NPZ file with arrays 'points' and 'classes': {error}."
        ) from error
    k = int(classes.max(initial=0))
    if len(points) != len(classes) or k < 2 or set(np.unique(classes)) != set(range(k + 1)):
        raise DataError(
            f"'{options.file}': 'classes' must give one of 0..k for each point, all used, k at least 2."
        )
    names = ["background", *(f"class {y}" for y in range(1, k + 1))]
    return point_bases(points, classes, names, options.seed)
