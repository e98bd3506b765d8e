"""Options of the tasks and models of pictures."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from attnx.plugin import Options


class ShapesOptions(Options):
    """Options of `shapes-captions`."""

    train: int = Field(3000, ge=2, description="training images; every word of a caption is an example")
    dev: int = Field(200, ge=1, description="images for model selection")
    test: int = Field(400, ge=1, description="test images; only words that name a shape are tested")
    things: int = Field(3, ge=2, le=4, description="shapes in an image; a caption describes two of them")
    grid: int = Field(7, ge=2, le=14, description="patches along a side")
    patch: int = Field(8, ge=4, le=16, description="pixels along the side of a patch")
    seed: int = Field(0, ge=0, description="seed of the data; the seeds of a run are for training")


class CocoOptions(Options):
    """Options of `coco-captions`."""

    images: int = Field(2000, ge=1, description="training images; dev and test each have a tenth as many")
    grid: int = Field(14, ge=2, le=28, description="patches along a side")
    patch: int = Field(8, ge=4, le=32, description="pixels along the side of a patch")
    min_count: int = Field(
        5, ge=1, description="words with fewer occurrences in training captions are not predicted"
    )
    features: Path | None = Field(
        None, description="NPZ file of patch features: an array [grid², F] for every image id"
    )
    seed: int = Field(0, ge=0, description="seed that draws the images")


class ImageFolderOptions(Options):
    """Options of `image-folder`."""

    file: Path | None = Field(
        None, description="JSON lines with image (relative path), label, and optionally id, split, boxes"
    )
    grid: int = Field(14, ge=2, le=32, description="patches along a side")
    patch: int = Field(16, ge=2, le=32, description="pixels along the side of a patch")
    seed: int = Field(0, ge=0, description="seed of the random split, if no split is given")


class ShowAttendTellOptions(Options):
    """Options of `show-attend-tell`."""

    hidden: int = Field(64, ge=1, description="channels of a patch's hidden state, and size of the decoder")
    embedding: int = Field(32, ge=1, description="size of word vectors")
    scorer: Literal["additive", "dot"] = Field(
        "additive", description="how a patch gets its score from its hidden state and the words so far"
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout rate on the decoder's input")
