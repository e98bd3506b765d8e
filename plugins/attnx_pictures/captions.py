"""Examples from captioned images: one for each word of a caption."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attnx.plugin import Example

from .grid import Box, marked, patch_names, patch_rows


@dataclass(frozen=True, slots=True)
class Captioned:
    """An image by its number, and a caption whose words have boxes if they name an object."""

    id: str
    image: int
    words: tuple[str, ...]
    boxes: tuple[tuple[Box, ...] | None, ...]  # of every word, None where it names nothing in the image


def examples_of(
    captions: Sequence[Captioned],
    labels: dict[str, int],
    *,
    side: float,
    grid: int,
    objects_only: Callable[[str], bool] | None = None,
) -> tuple[Example, ...]:
    """Return an example for every word with a label: the words before it are the query, patches the units.

    With `objects_only`, only the words that it accepts and that have boxes.
    """
    units = patch_names(grid)

    def made() -> Iterator[Example]:
        for caption in captions:
            for at, (word, boxes) in enumerate(zip(caption.words, caption.boxes, strict=True)):
                left_out = objects_only is not None and not (boxes and objects_only(word))
                if word in labels and not left_out:
                    yield Example(
                        id=f"{caption.id}.{at + 1}",
                        units=units,
                        label=labels[word],
                        query=caption.words[:at],
                        rationale=marked(list(boxes or ()), side, grid),  # none marked where it names nothing
                        rows=patch_rows(caption.image, grid),
                    )

    return tuple(made())
