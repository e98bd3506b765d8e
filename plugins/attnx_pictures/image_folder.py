from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from attnx.plugin import DataError, Example, Source, Task, TaskData, UsageError, did_you_mean, read_json_lines

from .grid import Array, cut, marked, patch_names, patch_rows
from .image_files import read_image, squeezed_box
from .options import ImageFolderOptions

SPLITS = ("train", "dev", "test")


class ImageFolder(Task):
    """Your own images with labels, from a JSON-lines file, with or without boxes.

    A line has `image` (a path relative to the file) and `label`, and may have `id`, `split` (train, dev
    or test) and `boxes`, a list of [x, y, width, height] in pixels around what decides the label. Images
    are scaled to a square and cut into patches, which are the units. Without splits the file is divided
    80/10/10 at random with a fixed seed.
    """

    provides = ("features", "images", "rationale")

    def __init__(self, options: ImageFolderOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        if self.options.file is None:
            raise UsageError("Task 'image-folder' needs image-folder:file=PATH, a file of JSON lines.")
        path = self.options.file
        if not path.is_file() and source.directory is not None:
            path = source.directory / path
        return _load(path, self.options)

    def sample(self) -> TaskData:
        return _drawn_sample()


def _load(path: Path, options: ImageFolderOptions) -> TaskData:
    side = options.grid * options.patch
    lines = [(f"'{path}', line {number}", found) for number, found in read_json_lines(path)]
    if not lines:
        raise DataError(f"'{path}' has no images.")
    names = sorted({_text(found, "label", where) for where, found in lines})
    images: list[Array] = []
    examples: list[Example] = []
    for row, (where, found) in enumerate(lines):
        pixels, size = read_image(path.parent / _text(found, "image", where), side)
        images.append(pixels)
        boxes = [squeezed_box(box, size, side, where) for box in _boxes(found, where)]
        examples.append(
            Example(
                id=str(found.get("id", row + 1)),
                units=patch_names(options.grid),
                label=names.index(_text(found, "label", where)),
                rationale=marked(boxes, side, options.grid) if boxes else None,
                rows=patch_rows(row, options.grid),
            )
        )
    split = _splits(lines, options.seed)
    train, dev, test = (tuple(e for e, of in zip(examples, split, strict=True) if of == s) for s in SPLITS)
    return TaskData(
        train=train,
        dev=dev,
        test=test,
        label_names=tuple(names),
        features=cut(np.stack(images), options.grid),
        provenance={"kind": "local", "file": path.name},
    )


def _splits(lines: list[tuple[str, dict[str, Any]]], seed: int) -> list[str]:
    """Return the split of every line, as given or drawn."""
    if not any("split" in found for _, found in lines):
        place = np.random.default_rng(seed).permutation(len(lines)) / len(lines)
        return [SPLITS[int(p >= 0.8) + int(p >= 0.9)] for p in place]
    splits = []
    for where, found in lines:
        split = _text(found, "split", where)
        if split not in SPLITS:
            raise DataError(f"{where}: unknown split '{split[:40]}'.{did_you_mean(split, SPLITS)}")
        splits.append(split)
    return splits


def _text(found: dict[str, Any], key: str, where: str) -> str:
    value = found.get(key)
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise DataError(f"{where}: '{key}' must be a text.{did_you_mean(key, found)}")
    return str(value)


def _boxes(found: dict[str, Any], where: str) -> list[Any]:
    boxes = found.get("boxes") or []
    if not isinstance(boxes, list):
        raise DataError(f"{where}: 'boxes' must be a list of [x, y, width, height].")
    return boxes


def _drawn_sample() -> TaskData:
    """Return generated images with a bright square on the left or on the right."""
    rng = np.random.default_rng(0)
    grid, side, count = 4, 16, 48
    images = rng.integers(100, 140, size=(count, 3, side, side)).astype(np.uint8)
    examples = []
    for i in range(count):
        label = i % 2
        left, top = 2 + 8 * label, int(rng.integers(0, 12))
        images[i, :, top : top + 4, left : left + 4] = 255
        examples.append(
            Example(
                id=str(i),
                units=patch_names(grid),
                label=label,
                rationale=marked([(left, top, left + 4, top + 4)], side, grid),
                rows=patch_rows(i, grid),
            )
        )
    return TaskData(
        train=tuple(examples[:24]),
        dev=tuple(examples[24:36]),
        test=tuple(examples[36:]),
        label_names=("left", "right"),
        features=cut(images, grid),
        provenance={"source": "drawn"},
    )
