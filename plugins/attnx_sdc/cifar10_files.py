"""CIFAR-10 from its files: PNG batches, the official binary batches, or arrays."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from attnx.plugin import DataError

Array = np.ndarray[Any, Any]
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE = 32
RECORD = 1 + 3 * SIDE * SIDE  # of a binary batch: the label, then the image channel by channel
BATCHES = {"train": tuple(f"data_batch_{i}" for i in range(1, 6)), "test": ("test_batch",)}


def read_half(folder: Path, half: str) -> tuple[Array, Array]:
    """Images [N, 3, 32, 32] of bytes and labels [N] of `train` or `test`."""
    names = BATCHES[half]
    if (folder / f"{names[0]}.png").exists():
        parts = [_read_png(folder / f"{name}.png") for name in names]
        images, labels = np.concatenate(parts), _read_labels(folder / f"{half}_labels.json")
    elif (folder / f"{names[0]}.bin").exists():
        records = np.concatenate([_read_binary(folder / f"{name}.bin") for name in names])
        images, labels = records[:, 1:].reshape(-1, 3, SIDE, SIDE), records[:, 0]
    else:
        images, labels = _read_arrays(folder, half)
    if len(images) != len(labels) or len(labels) == 0 or int(labels.max()) >= len(CLASSES):
        raise DataError(
            f"'{folder}': {len(images)} {half} images do not match {len(labels)} labels of 0 to 9."
        )
    return images, labels.astype(np.int64)


def _read_png(path: Path) -> Array:
    """[N, 3, 32, 32] of a picture whose rows are images, pixel after pixel."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            pixels = np.asarray(picture.convert("RGB"))  # [N, 1024, 3]
    except (OSError, UnidentifiedImageError, SyntaxError) as error:
        raise DataError(f"'{path}' does not decode as a picture: {error}.") from error
    if pixels.shape[1] != SIDE * SIDE:
        raise DataError(f"'{path}' is {pixels.shape[1]} pixels wide; a row of CIFAR-10 has {SIDE * SIDE}.")
    return pixels.reshape(-1, SIDE, SIDE, 3).transpose(0, 3, 1, 2)


def _read_labels(path: Path) -> Array:
    try:
        labels = np.array(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise DataError(f"Cannot read the labels of '{path}': {error}.") from error
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or (labels < 0).any():
        raise DataError(f"'{path}' must be a list of labels from 0 to 9.")
    return labels


def _read_binary(path: Path) -> Array:
    """[N, 3073] the records of an official batch."""
    try:
        content = np.fromfile(path, dtype=np.uint8)
    except OSError as error:
        raise DataError(f"Cannot read '{path}': {error.strerror}.") from error
    if len(content) % RECORD:
        raise DataError(f"'{path}' has {len(content)} bytes, which is not a multiple of {RECORD}.")
    return content.reshape(-1, RECORD)


def _read_arrays(folder: Path, half: str) -> tuple[Array, Array]:
    """The first NPZ file of that half: `images` [N, 32, 32, 3] of bytes, and `labels` [N]."""
    found = sorted(folder.glob(f"{half}*.npz"))
    if not found:
        raise DataError(
            f"'{folder}' has no {half} images: neither {BATCHES[half][0]}.png, nor .bin, nor {half}*.npz."
        )
    try:
        with np.load(found[0], allow_pickle=False) as file:
            images, labels = file["images"], file["labels"]
    except (OSError, KeyError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"'{found[0]}' is not an NPZ file with images and labels: {error}.") from error
    if images.dtype != np.uint8 or images.shape[1:] != (SIDE, SIDE, 3) or labels.dtype.kind not in "iu":
        raise DataError(f"'{found[0]}': images must be bytes [N, {SIDE}, {SIDE}, 3], labels integers.")
    return images.transpose(0, 3, 1, 2), labels
