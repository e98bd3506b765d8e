"""Options of the selective-dependence tasks, the focus-classify model and the focus metric."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from attnx.plugin import Options


class Sizes(Options):
    """The number of mosaics, their size, and their seed."""

    segments: int = Field(9, ge=2, description="segments of a mosaic, one of them foreground")
    train: int = Field(200, ge=2, description="training mosaics")
    dev: int = Field(500, ge=1, description="mosaics for model selection")
    test: int = Field(1000, ge=1, description="test mosaics")
    seed: int = Field(0, ge=0, description="seed of the data; the seeds of a run are for training")


class Blob(Options):
    """One part of a base distribution: an axis-parallel Gaussian or box."""

    kind: Literal["gaussian", "box"] = "gaussian"
    centre: tuple[float, ...] = Field(description="mean of the Gaussian, or centre of the box")
    spread: float | tuple[float, ...] = Field(
        0.1, description="standard deviation, or half the side of the box"
    )


class SdcOptions(Sizes):
    """Options of `sdc`: base distributions as mixtures of blobs, or as the points of a file."""

    background: tuple[Blob, ...] = Field(
        (Blob(centre=(0, 0)),), min_length=1, description="D_0, a mixture of equally likely blobs"
    )
    foreground: tuple[tuple[Blob, ...], ...] = Field(
        ((Blob(centre=(2, 0)),), (Blob(centre=(0, 2)),)),
        min_length=2,
        description="D_1..D_k, a mixture for each class",
    )
    file: Path | None = Field(
        None,
        description="NPZ file to draw from instead: 'points' [N, ...] and 'classes' [N], 0 for background",
    )

    @property
    def also_provides(self) -> tuple[str, ...]:
        return ("plane",) if self.file is None and len(self.background[0].centre) == 2 else ()

    @model_validator(mode="after")
    def _one_space(self) -> Self:
        blobs = [*self.background, *(blob for blobs in self.foreground for blob in blobs)]
        sizes = {len(blob.centre) for blob in blobs}
        sizes |= {len(blob.spread) for blob in blobs if isinstance(blob.spread, tuple)}
        if len(sizes) > 1 or 0 in sizes:
            raise ValueError("every centre and every tuple of spreads must have the same number of values")
        return self


class Sdc2dOptions(Sizes):
    """Options of `sdc-2d`."""

    train: int = Field(2000, ge=2, description="training mosaics")


class DigitsOptions(Sizes):
    """Options of `sdc-digits`."""

    train: int = Field(2000, ge=2, description="training mosaics")
    foreground: str = Field(
        "012", pattern=r"^\d{2,9}$", description="the foreground digits, which decide the label"
    )


def _divides(side: int) -> int:
    if side not in (4, 8, 16, 32):
        raise ValueError("should be 4, 8, 16 or 32")
    return side


Side = Annotated[int, AfterValidator(_divides)]


class Cifar10Options(Options):
    """Options of `sdc-cifar10`; options that are not given follow from `size`."""

    size: Literal["small", "paper"] = Field(
        "small",
        description="small: 16 pixels a side, 4000/500/1000 mosaics, for a CPU; paper: 32, 30000/2000/10000",
    )
    segments: int = Field(9, ge=2, description="segments of a mosaic, one of them foreground")
    train: int | None = Field(None, ge=2, description="training mosaics")
    dev: int | None = Field(None, ge=1, description="mosaics for model selection")
    test: int | None = Field(None, ge=1, description="test mosaics")
    pixels: Side | None = Field(None, description="side of a segment: 4, 8, 16 or 32")
    photographs: int | None = Field(
        None, ge=100, description="use the first so many of the 50000 training photographs; None: all"
    )
    held_out: bool = Field(
        True,
        description="dev and test mosaics have photographs of their own; false: those of train, as published",
    )
    seed: int = Field(0, ge=0, description="seed of the data; the seeds of a run are for training")

    @property
    def side(self) -> int:
        return self.pixels or (16 if self.size == "small" else 32)

    @property
    def sizes(self) -> Sizes:
        train, dev, test = (4000, 500, 1000) if self.size == "small" else (30000, 2000, 10000)
        return Sizes(
            segments=self.segments,
            train=self.train or train,
            dev=self.dev or dev,
            test=self.test or test,
            seed=self.seed,
        )


class SdcTextOptions(Sizes):
    """Options of `sdc-text`; segments are words, and sentences vary in length up to `segments`."""

    segments: int = Field(20, ge=4, description="longest sentence, in words")
    train: int = Field(1000, ge=2, description="training sentences")
    evidence: int = Field(1, ge=1, le=3, description="deciding words per sentence")
    labels: Literal["true", "permuted"] = Field(
        "true", description="permuted: labels are shuffled within every split, so that nothing decides them"
    )

    @property
    def also_provides(self) -> tuple[str, ...]:
        return ("rationale",) if self.labels == "true" else ()


class FcamOptions(Options):
    """Options of `fcam`."""

    focus: Literal["auto", "linear", "mlp", "cnn", "oracle"] = Field(
        "auto",
        description="focus network f; auto: cnn for images, else mlp; oracle: the task's perfect focus",
    )
    classifier: Literal["auto", "linear", "relu", "mlp", "cnn"] = Field(
        "auto", description="classification network g; relu has one hidden layer, mlp two"
    )
    layer: int = Field(
        0,
        ge=-1,
        description="what is averaged: 0 the segments, l the l-th hidden layer of f, -1 the last",
    )
    width: int = Field(50, ge=1, description="size of hidden layers")
    channels: int = Field(8, ge=1, description="channels of the first convolutions of a cnn")
    embedding: int = Field(32, ge=1, description="size of word vectors, if segments are words")

    @property
    def also_provides(self) -> tuple[str, ...]:
        return ("linear-decoder",) if self.classifier == "linear" else ()


class FocusOptions(Options):
    """Options of `focus`."""

    points: int = Field(101, ge=2, description="thresholds of the curve, from 0 to 1")
