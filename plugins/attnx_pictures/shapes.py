"""Drawn images of coloured shapes, with their boxes and a sentence about two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .grid import Box

Array = np.ndarray[Any, Any]
COLOURS = {
    "red": (220, 40, 40),
    "green": (40, 170, 60),
    "blue": (50, 80, 220),
    "yellow": (230, 210, 40),
    "purple": (150, 60, 190),
    "cyan": (60, 190, 200),
}
SHAPES = ("circle", "square", "triangle", "cross", "ring", "bar")
FLAT = 0.4  # height of a bar, as a share of its width
GREY, NOISE = 127, 12  # of the background
SMALLEST, LARGEST = 0.13, 0.2  # half the size of a shape, as a share of the picture's side


@dataclass(frozen=True, slots=True)
class Thing:
    """One shape in a picture."""

    shape: str
    colour: str
    box: Box

    @property
    def centre(self) -> tuple[float, float]:
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2


@dataclass(frozen=True, slots=True)
class Scene:
    """An image [3, S, S] of bytes, its shapes, and a caption: words, each with its shape or None."""

    picture: Array
    things: tuple[Thing, ...]
    caption: tuple[tuple[str, Thing | None], ...]


def draw_scene(rng: np.random.Generator, side: int, things: int) -> Scene:
    """Draw shapes of different colours that do not touch, and describe the position of one to another."""
    placed = _place(rng, side, things)
    picture = GREY + rng.integers(-NOISE, NOISE + 1, size=(3, side, side))
    for thing in placed:
        inside = _inside(thing, side)  # [S, S]
        colour = np.array(COLOURS[thing.colour])[:, None]
        picture[:, inside] = colour + rng.integers(-NOISE, NOISE + 1, size=(3, int(inside.sum())))
    first, second = (placed[i] for i in rng.choice(len(placed), size=2, replace=False))
    return Scene(picture.clip(0, 255).astype(np.uint8), tuple(placed), _caption(first, second))


def _place(rng: np.random.Generator, side: int, things: int) -> list[Thing]:
    colours = rng.choice(list(COLOURS), size=things, replace=False)
    placed: list[Thing] = []
    for colour in colours:
        while True:
            half = rng.uniform(SMALLEST, LARGEST) * side
            x, y = rng.uniform(half, side - half, size=2)
            shape = str(rng.choice(SHAPES))
            tall = FLAT * half if shape == "bar" else half
            box = (x - half, y - tall, x + half, y + tall)
            if all(_apart(box, other.box) for other in placed):
                placed.append(Thing(shape, str(colour), box))
                break
    return placed


def _apart(a: Box, b: Box) -> bool:
    return a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]


def _inside(thing: Thing, side: int) -> Array:
    """[S, S] which pixels a shape covers."""
    left, top, right, bottom = thing.box
    across, down = thing.centre
    pixels = np.arange(side) + 0.5
    x = 2 * (pixels[None] - across) / (right - left)  # from -1 to 1 within the box
    y = 2 * (pixels[:, None] - down) / (bottom - top)
    in_box = (abs(x) <= 1) & (abs(y) <= 1)
    radius = np.hypot(x, y)
    drawn: dict[str, Array] = {
        "circle": radius <= 1,
        "square": in_box,
        "triangle": in_box & (abs(x) <= (y + 1) / 2),
        "cross": in_box & ((abs(x) <= 0.33) | (abs(y) <= 0.33)),
        "ring": (radius <= 1) & (radius >= 0.55),
        "bar": in_box,
    }
    return drawn[thing.shape]


def _caption(first: Thing, second: Thing) -> tuple[tuple[str, Thing | None], ...]:
    """Return `a red circle left of a blue square`, each colour and shape with the thing it describes."""
    (x1, y1), (x2, y2) = first.centre, second.centre
    if abs(x1 - x2) >= abs(y1 - y2):
        relation = ["left" if x1 < x2 else "right", "of"]
    else:
        relation = ["above" if y1 < y2 else "below"]

    def name(thing: Thing) -> list[tuple[str, Thing | None]]:
        return [("a", None), (thing.colour, thing), (thing.shape, thing)]

    return (*name(first), *((word, None) for word in relation), *name(second))
