from collections.abc import Callable

import numpy as np

from attnx.plugin import Example, Source, Task, TaskData

from .captions import Captioned, examples_of
from .grid import cut
from .options import ShapesOptions
from .shapes import SHAPES, Scene, draw_scene

SPLITS = ("train", "dev", "test")
END = "."  # what a caption ends with


class ShapesCaptions(Task):
    """Drawn coloured shapes with captions: predict the next word of a caption.

    One example per word of e.g. `a red circle left of a blue square`: the units are the patches of the
    image, the query is the words so far, the label is the next word. If the word describes a shape, the
    box of the shape is the rationale. Test examples are only the words that name a shape. Needs no files.
    """

    provides = ("features", "images", "query", "rationale")

    def __init__(self, options: ShapesOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        return make_data(self.options)

    def sample(self) -> TaskData:
        return make_data(ShapesOptions(train=12, dev=4, test=12, grid=4, patch=8))


def make_data(options: ShapesOptions) -> TaskData:
    """Draw all images, cut them into patches and make one example per word."""
    side = options.grid * options.patch
    scenes: dict[str, list[Scene]] = {}
    for split, seed in zip(SPLITS, np.random.SeedSequence(options.seed).spawn(3), strict=True):
        rng = np.random.default_rng(seed)
        scenes[split] = [draw_scene(rng, side, options.things) for _ in range(getattr(options, split))]
    everything = [scene for split in SPLITS for scene in scenes[split]]
    words = sorted({word for scene in everything for word, _ in scene.caption} | {END})
    labels = {word: label for label, word in enumerate(words)}

    def examples_in(
        split: str, first: int, tested: Callable[[str], bool] | None = None
    ) -> tuple[Example, ...]:
        captions = [_captioned(f"{split}-{i}", first + i, scene) for i, scene in enumerate(scenes[split])]
        return examples_of(captions, labels, side=side, grid=options.grid, objects_only=tested)

    return TaskData(
        train=examples_in("train", 0),
        dev=examples_in("dev", options.train),
        test=examples_in("test", options.train + options.dev, SHAPES.__contains__),
        label_names=tuple(words),
        features=cut(np.stack([scene.picture for scene in everything]), options.grid),
        provenance={"source": "drawn shapes", "pictures": "/".join(str(len(scenes[s])) for s in SPLITS)},
    )


def _captioned(name: str, image: int, scene: Scene) -> Captioned:
    words = tuple(word for word, _ in scene.caption)
    boxes = tuple(None if thing is None else (thing.box,) for _, thing in scene.caption)
    return Captioned(name, image, (*words, END), (*boxes, None))
