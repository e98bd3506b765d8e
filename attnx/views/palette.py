"""Every colour of pages and figures, defined once; each has one meaning, in light and in dark.

Green is clearly better than random (or than what it is compared with), red worse, brown about the same or
only partly better, grey not known: `TONES`. Orange speaks for the class that is explained, blue against it:
`score_colours`. The series colours tell the lines of a figure apart, no more.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Final

from . import score_colours


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one scheme, as CSS writes them."""

    paper: str
    card: str
    ink: str
    soft: str  # text of less weight
    faint: str  # lines that must be seen
    line: str  # lines that need not
    link: str
    good: str  # better than random
    bad: str  # worse than random
    even: str  # about as good as random
    open: str  # not known
    series: tuple[str, ...]  # distinct for every kind of colour vision (after Okabe and Ito)


LIGHT: Final = Palette(
    paper="#fbfbf9",
    card="#ffffff",
    ink="#1b1f24",
    soft="#545d68",
    faint="#8a929c",
    line="#dcdfe3",
    link="#0a58a8",
    good="#0b6b3a",
    bad="#a8200d",
    even="#7a5200",
    open="#4b5563",
    series=("#0072b2", "#c2500a", "#00795a", "#a6447c", "#8c6d00", "#4a6fc4"),
)
DARK: Final = Palette(
    paper="#14171b",
    card="#1b1f25",
    ink="#e7eaee",
    soft="#aab3be",
    faint="#7d8792",
    line="#343b44",
    link="#7db8f5",
    good="#6fd39b",
    bad="#ff9a8a",
    even="#e8bf66",
    open="#b6bfca",
    series=("#5ab4f0", "#ff9a5c", "#4fd0a5", "#eb92c4", "#dcb84a", "#9fb6ff"),
)
PAPER: Final = replace(
    LIGHT, paper="#fff", card="#fff", ink="#000", soft="#333", faint="#777", line="#bbb", link="#000"
)


# The tone of every grade, status, outcome and claim that a page shows.
TONES: Final[dict[str, str]] = {
    **dict.fromkeys(("good", "strong", "supported", "better", "holds"), "good"),
    **dict.fromkeys(("misleading", "contradicted", "worse", "does not hold"), "bad"),
    **dict.fromkeys(("random", "weak", "partial", "chance", "no significant difference"), "even"),
}


def tone(said: str) -> str:
    """The class of a grade, status, outcome or claim: good, bad, even, or open."""
    return TONES.get(said, "open")


def css_variables() -> str:
    """The palette and the colours of scores as CSS variables; `.attnx` is a page, or a notebook's cell."""
    schemes = [
        _rule(LIGHT),
        f"@media screen and (prefers-color-scheme: dark) {{ {_rule(DARK)} }}",
        f"@media print {{ {_rule(PAPER)} }}",
    ]
    return "\n".join(schemes) + "\n" + score_colours.css_variables()


def _rule(palette: Palette) -> str:
    colours = asdict(palette)
    series = colours.pop("series")
    named = colours | {f"series-{number}": colour for number, colour in enumerate(series, 1)}
    return ".attnx { " + " ".join(f"--{name}: {colour};" for name, colour in named.items()) + " }"
