from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attnx.plugin import DataError, Source, Task, TaskData

from .captions import Captioned, examples_of
from .coco_words import words_of
from .grid import Array, Box, cut
from .image_files import read_image, squeezed_box
from .options import CocoOptions, ShapesOptions
from .shapes_captions import make_data

SHARE = 0.1  # share of `images` for dev and for test
HALVES = {"train": "train", "dev": "train", "test": "val"}  # COCO's own test captions are not public
WORD = re.compile(r"[a-z]+")
END = "."


class CocoCaptions(Task):
    """COCO photographs with captions: predict the next word of a caption.

    One example per word: the units are the patches of an image scaled to a square, the query is the words
    so far, the label is the next word. If the word names one of the 80 object types and the image
    contains such objects, their boxes are the rationale. Test examples are only those words, in images of
    the val half; the first caption of every image is used. Needs local files.
    """

    provides = ("features", "images", "query", "rationale")
    dataset = "coco"

    def __init__(self, options: CocoOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        fetched = source.fetch(self.dataset)
        return _load(fetched.folder, self.options, dict(fetched.provenance))

    def sample(self) -> TaskData:
        return make_data(ShapesOptions(train=12, dev=4, test=12, grid=4, patch=8))


@dataclass(frozen=True, slots=True)
class _Photograph:
    """One image with its caption and the boxes of its objects, [x, y, width, height] by category."""

    id: int
    file: Path
    words: tuple[str, ...]
    objects: dict[str, list[Any]]


def _load(folder: Path, options: CocoOptions, provenance: dict[str, str]) -> TaskData:
    halves = {half: _read_half(folder, half) for half in ("train", "val")}
    tenth = max(1, round(SHARE * options.images))
    rng = np.random.default_rng(options.seed)
    trained = _drawn(rng, halves["train"], options.images + tenth)
    cut_at = max(1, len(trained) - tenth)
    chosen = {
        "train": trained[:cut_at],
        "dev": trained[cut_at:],
        "test": _drawn(rng, halves["val"], tenth),
    }
    counts = Counter(word for photograph in chosen["train"] for word in photograph.words)
    common = {word for word, count in counts.items() if count >= options.min_count}
    words = sorted({*common, END})
    labels = {word: label for label, word in enumerate(words)}
    everything = [photograph for split in chosen.values() for photograph in split]
    side = options.grid * options.patch
    images, sizes = _images(everything, side, only_sizes=options.features is not None)
    features = cut(np.stack(images), options.grid) if images else _given_features(everything, options)
    first = 0
    examples = {}
    for split, photographs in chosen.items():
        captioned = [
            _captioned(photograph, first + i, sizes[first + i], side)
            for i, photograph in enumerate(photographs)
        ]
        tested = labels.__contains__ if split == "test" else None
        examples[split] = examples_of(captioned, labels, side=side, grid=options.grid, objects_only=tested)
        first += len(photographs)
    return TaskData(
        train=examples["train"],
        dev=examples["dev"],
        test=examples["test"],
        label_names=tuple(words),
        features=features,
        provenance=provenance | {"pictures": "/".join(str(len(split)) for split in chosen.values())},
    )


def _drawn(rng: np.random.Generator, photographs: Sequence[_Photograph], count: int) -> list[_Photograph]:
    order = rng.permutation(len(photographs))[:count]
    return [photographs[i] for i in order]


def _read_half(folder: Path, half: str) -> list[_Photograph]:
    """The images of a half that have a caption, in the order of their numbers."""
    captions = _annotations(folder, f"captions_{half}")
    instances = _annotations(folder, f"instances_{half}")
    try:
        names = {category["id"]: category["name"] for category in instances["categories"]}
        objects: dict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
        for found in instances["annotations"]:
            objects[found["image_id"]][names[found["category_id"]]].append(found["bbox"])
        first_captions: dict[int, str] = {}
        for found in captions["annotations"]:
            first_captions.setdefault(found["image_id"], found["caption"])
        pictures = _pictures(folder, half)
        return [
            _Photograph(
                image["id"],
                pictures / image["file_name"],
                (*WORD.findall(first_captions[image["id"]].lower()), END),
                dict(objects[image["id"]]),
            )
            for image in sorted(captions["images"], key=lambda image: image["id"])
            if image["id"] in first_captions
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"The {half} annotations in '{folder}' are not COCO's: {error!r} is missing."
        ) from error


def _annotations(folder: Path, name: str) -> dict[str, Any]:
    found = sorted((folder / "annotations").glob(f"{name}*.json"))
    if not found:
        raise DataError(
            f"'{folder}' contains no annotations/{name}*.json: unpack COCO's annotation archive there."
        )
    try:
        content = json.loads(found[0].read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"'{found[0]}' cannot be read as JSON: {error}.") from error
    if not isinstance(content, dict):
        raise DataError(f"'{found[0]}' is not a COCO annotation file.")
    return content


def _pictures(folder: Path, half: str) -> Path:
    found = sorted(path for path in folder.glob(f"{half}*") if path.is_dir())
    if not found:
        raise DataError(f"'{folder}' contains no folder {half}* with images: unpack COCO's images there.")
    return found[0]


def _images(
    photographs: Sequence[_Photograph], side: int, only_sizes: bool
) -> tuple[list[Array], list[tuple[int, int]]]:
    read = [read_image(photograph.file, side) for photograph in photographs]
    return [] if only_sizes else [pixels for pixels, _ in read], [size for _, size in read]


# What numpy raises for a file that is not an NPZ file, is damaged, or lacks an array.
UNREADABLE = (OSError, EOFError, KeyError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error)


def _given_features(photographs: Sequence[_Photograph], options: CocoOptions) -> Array:
    """[N·grid², F] from the user's file."""
    assert options.features is not None
    try:
        with np.load(options.features, allow_pickle=False) as file:
            rows = [file[str(photograph.id)] for photograph in photographs]
    except UNREADABLE as error:
        raise DataError(f"'{options.features}' does not give features of every image: {error}.") from error
    shapes = {row.shape for row in rows}
    if len(shapes) > 1 or any(len(shape) != 2 or shape[0] != options.grid**2 for shape in shapes):
        raise DataError(f"'{options.features}': every array must be [{options.grid**2}, F], one F for all.")
    return np.concatenate(rows).astype(np.float32)


def _captioned(photograph: _Photograph, image: int, size: tuple[int, int], side: int) -> Captioned:
    where = f"image {photograph.id} of COCO"
    by_word: dict[str, list[Box]] = defaultdict(list)
    for category, given in photograph.objects.items():
        boxes = [squeezed_box(box, size, side, where) for box in given]
        for word in words_of(category):
            by_word[word] += boxes
    boxes_of = tuple(tuple(by_word[word]) or None for word in photograph.words)
    return Captioned(str(photograph.id), image, photograph.words, boxes_of)
