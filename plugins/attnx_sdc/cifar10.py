import numpy as np

from attnx.plugin import Source, Task, TaskData

from .cifar10_files import CLASSES, SIDE, Array, read_half
from .mosaics import make_mosaics, pooled_bases
from .options import Cifar10Options

FOREGROUND = ("airplane", "automobile", "bird")
DEV_SHARE = 0.1  # share of the training images that only dev mosaics use


class Cifar10(Task):
    """Mosaics of CIFAR-10 photographs; the one aeroplane, car or bird decides the label.

    A mosaic has nine segments by default (its units); exactly one is foreground and decides the label,
    and it is the rationale. The others are from the seven other classes. Test mosaics are made of test
    images, dev mosaics of a tenth of the training images, train mosaics of the rest; with
    `held_out=false` all are made of the same training images, as in the paper, so that a model can know
    the photographs of a test mosaic, though not their combination. Needs the dataset cifar10 (139 MB).
    """

    provides = ("features", "rationale", "images", "backgrounds")
    dataset = "cifar10"

    def __init__(self, options: Cifar10Options) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        fetched = source.fetch(self.dataset)
        halves = {half: read_half(fetched.folder, half) for half in ("train", "test")}
        return _mosaics(halves, self.options, dict(fetched.provenance))

    def sample(self) -> TaskData:
        rng = np.random.default_rng(0)
        labels = np.repeat(np.arange(len(CLASSES)), 20)
        halves = {half: (_blotches(rng, labels), labels) for half in ("train", "test")}
        return _mosaics(halves, Cifar10Options(train=24, dev=12, test=12, pixels=8), {"source": "generated"})


def _mosaics(
    halves: dict[str, tuple[Array, Array]], options: Cifar10Options, provenance: dict[str, str]
) -> TaskData:
    used = {"train": options.photographs} | ({"test": None} if options.held_out else {})
    images = np.concatenate([shrink(halves[half][0][:count], options.side) for half, count in used.items()])
    labels = np.concatenate([halves[half][1][:count] for half, count in used.items()])
    of = {CLASSES.index(name): y for y, name in enumerate(FOREGROUND, start=1)}
    classes = np.array([of.get(label, 0) for label in range(len(CLASSES))])[labels]
    names = ["background", *FOREGROUND]
    tested = len(halves["test"][1])
    split = _own_split(len(labels) - tested, tested, options.seed) if options.held_out else None
    bases = pooled_bases(images, classes, names, split)
    return make_mosaics(bases, options.sizes, provenance | {"pixels": f"{options.side} x {options.side}"})


def _own_split(train: int, test: int, seed: int) -> Array:
    """The split that every image is for."""
    for_dev = np.random.default_rng(seed).random(train + test) < DEV_SHARE
    tested = np.arange(train + test) >= train
    return np.where(tested, "test", np.where(for_dev, "dev", "train"))


def shrink(images: Array, side: int) -> Array:
    """[N, 3, 32, 32] -> [N, 3, side, side], the mean of the pixels that come together."""
    by = SIDE // side
    if by == 1:
        return images
    return np.concatenate(
        [
            part.reshape(-1, 3, side, by, side, by).mean((3, 5)).round().astype(np.uint8)
            for part in np.array_split(images, max(1, len(images) // 1000))  # means are made in doubles
        ]
    )


def _blotches(rng: np.random.Generator, labels: Array) -> Array:
    """Return [N, 3, 32, 32] noise around one grey level per class."""
    noise = rng.integers(-10, 10, size=(len(labels), 3, SIDE, SIDE))
    return (25 * labels[:, None, None, None] + 15 + noise).clip(0, 255).astype(np.uint8)
