"""Algorithm 1 of the paper: mosaics with one foreground segment, from any base distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnx.plugin import DataError, Example, TaskData

from .options import Blob, Sizes

Array = np.ndarray[Any, Any]
SPLITS = ("train", "dev", "test")
BACKGROUND = 0
SPARES = 200  # number of background segments that replace others in the test split


@dataclass(frozen=True)
class Bases:
    """Base distributions D_0..D_k: draws `count` points of a class for a split."""

    draw: Callable[[np.random.Generator, str, int, int], Array]  # rng, split, class, count -> rows
    features: Callable[[], Array]  # [R, ...] what the rows point at, once everything is drawn
    names: Sequence[str]  # of the classes, background first


def make_mosaics(
    bases: Bases,
    sizes: Sizes,
    provenance: dict[str, str],
    oracle: Callable[[Array], Array] | None = None,
) -> TaskData:
    """Draw all splits and label every segment with the class it came from."""
    *seeds, for_spares = np.random.SeedSequence(sizes.seed).spawn(4)
    train, dev, test = (
        _draw_split(bases, sizes, split, getattr(sizes, split), seed)
        for split, seed in zip(SPLITS, seeds, strict=True)
    )
    spares = tuple(bases.draw(np.random.default_rng(for_spares), "test", BACKGROUND, SPARES).tolist())
    test = tuple(replace(example, spares=spares) for example in test)
    features = bases.features()
    if features.dtype != np.uint8:  # the bytes of images stay bytes: a quarter of the memory
        features = features.astype(np.float32)
    return TaskData(
        train=train,
        dev=dev,
        test=test,
        label_names=tuple(bases.names[1:]),
        features=features,
        oracle=None if oracle is None else oracle(features).astype(np.float32),
        provenance=provenance,
    )


def _draw_split(
    bases: Bases, sizes: Sizes, split: str, count: int, seed: np.random.SeedSequence
) -> tuple[Example, ...]:
    rng = np.random.default_rng(seed)
    m, k = sizes.segments, len(bases.names) - 1
    position = rng.integers(m, size=count)  # i*
    label = rng.integers(k, size=count)  # y
    rows = bases.draw(rng, split, BACKGROUND, count * m).reshape(count, m)  # [N, m]
    for y in range(k):
        chosen = np.flatnonzero(label == y)
        rows[chosen, position[chosen]] = bases.draw(rng, split, y + 1, len(chosen))
    foreground = np.arange(m)[None] == position[:, None]  # [N, m]
    segment_class = np.where(foreground, label[:, None] + 1, BACKGROUND)  # [N, m]
    return tuple(
        Example(
            id=f"{split}-{i}",
            units=tuple(bases.names[c] for c in segment_class[i]),
            label=int(label[i]),
            rationale=tuple(foreground[i].tolist()),
            rows=tuple(rows[i].tolist()),
        )
        for i in range(count)
    )


def blob_bases(background: Sequence[Blob], foreground: Sequence[Sequence[Blob]]) -> Bases:
    """Return base distributions that are mixtures of blobs; every point is used once."""
    mixtures = [tuple(background), *(tuple(blobs) for blobs in foreground)]
    drawn: list[Array] = []

    def draw(rng: np.random.Generator, split: str, of: int, count: int) -> Array:  # noqa: ARG001
        start = sum(len(points) for points in drawn)
        drawn.append(draw_points(rng, mixtures[of], count))
        return np.arange(start, start + count)

    names = ["background", *(f"class {y}" for y in range(1, len(mixtures)))]
    return Bases(draw, lambda: np.concatenate(drawn), names)


def draw_points(rng: np.random.Generator, mixture: Sequence[Blob], count: int) -> Array:
    """[count, d] points of a mixture of equally likely blobs."""
    centres = np.array([blob.centre for blob in mixture])  # [blobs, d]
    spreads = np.array([np.broadcast_to(blob.spread, centres.shape[1]) for blob in mixture])
    boxes = np.array([blob.kind == "box" for blob in mixture])
    which = rng.integers(len(mixture), size=count)
    shape = (count, centres.shape[1])
    gaussian, box = rng.standard_normal(shape), rng.uniform(-1, 1, shape)
    return centres[which] + spreads[which] * np.where(boxes[which, None], box, gaussian)


def point_bases(points: Array, classes: Array, names: Sequence[str], seed: int) -> Bases:
    """Return base distributions given by points, split 70/15/15 % between train, dev and test."""
    order = np.random.default_rng(seed).permutation(len(points))
    pools: dict[tuple[str, int], Array] = {}
    for of in range(len(names)):
        mine = order[classes[order] == of]
        cuts = (np.array([0.70, 0.85]) * len(mine)).astype(int)
        pools |= {(split, of): pool for split, pool in zip(SPLITS, np.split(mine, cuts), strict=True)}
    return _drawn_from(pools, points, names)


def pooled_bases(points: Array, classes: Array, names: Sequence[str], split: Array | None) -> Bases:
    """Return base distributions given by points, each for the split in `split` [N]; None: for all."""
    pools = {
        (name, of): np.flatnonzero((classes == of) & (True if split is None else split == name))
        for name in SPLITS
        for of in range(len(names))
    }
    empty = next(
        (f"no {name} image of '{names[of]}'" for (name, of), pool in pools.items() if not len(pool)), ""
    )
    if empty:
        raise DataError(f"There is {empty} to make mosaics of.")
    return _drawn_from(pools, points, names)


def _drawn_from(pools: dict[tuple[str, int], Array], points: Array, names: Sequence[str]) -> Bases:
    def draw(rng: np.random.Generator, split: str, of: int, count: int) -> Array:
        return rng.choice(pools[split, of], size=count)

    return Bases(draw, lambda: points, names)
