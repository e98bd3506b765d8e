"""The colours of scores, the same on every page and on a terminal: orange above 0, blue below 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class ScoreColours:
    """Two hues that people with any colour vision tell apart, and how strong they get."""

    above: Colour
    below: Colour
    strongest: float  # share of the hue under the largest score; less than 1 keeps the word on it readable


ON_LIGHT: Final = ScoreColours(above=(230, 126, 0), below=(30, 100, 200), strongest=0.62)
ON_DARK: Final = ScoreColours(above=(190, 96, 0), below=(50, 105, 205), strongest=0.8)


def css_variables() -> str:
    """The scale as CSS variables: --above, --below and --strongest, for light and for dark pages."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {_rule(ON_DARK)} }}"  # paper is white
    return f"{_rule(ON_LIGHT)}\n{dark}\n"


def on_white(share: float) -> str:
    """The colour of a score on white, from its share of the largest score, which is between -1 and 1."""
    hue = ON_LIGHT.above if share >= 0 else ON_LIGHT.below
    strength = ON_LIGHT.strongest * min(1.0, abs(share))
    return "#" + "".join(f"{round(255 + (part - 255) * strength):02x}" for part in hue)


def _rule(colours: ScoreColours) -> str:
    above, below = (" ".join(map(str, hue)) for hue in (colours.above, colours.below))
    return f".attnx {{ --above: {above}; --below: {below}; --strongest: {colours.strongest}; }}"
