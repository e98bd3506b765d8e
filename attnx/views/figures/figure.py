"""Figures as files and as part of a page: one drawing, in SVG or PNG."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...disk import write_file
from ...errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK: Final = "#1b1f24"
FAINT: Final = "#8a929c"
# Distinct for every kind of colour vision (after Okabe and Ito); dashes and markers differ as well.
SERIES: Final = ("#0072b2", "#c2500a", "#00795a", "#a6447c", "#8c6d00", "#4a6fc4")
DASHES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
MARKERS: Final = ("o", "s", "^", "D", "v", "P")
BOTTOM, RIGHT, TOP = 0.5, 0.15, 0.25  # inches
SETTINGS: Final[Any] = {
    "svg.fonttype": "none",  # text stays text: it can be read, searched and restyled
    "text.parse_math": False,  # a label with a dollar in it is not a formula
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
}


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """A figure with a title and a caption; `draw` fills an empty matplotlib figure."""

    name: str  # of its file, and of its place in a page
    title: str
    caption: str
    size: tuple[float, float]  # inches
    draw: Callable[[Figure], None]
    left: float = 0.75  # inches for the labels of the vertical axis; measuring them would double the time

    def save(self, path: str | Path) -> None:
        """Write the drawing as SVG or PNG, by the ending of the file's name."""
        path = Path(path)
        if path.suffix not in (".svg", ".png"):
            raise UsageError(f"Figures are saved as SVG or PNG, but '{path}' ends in neither .svg nor .png.")
        write_file(path, to_svg(self) if path.suffix == ".svg" else to_png(self))


def to_svg(drawing: ReportFigure) -> str:
    """The drawing as an SVG file, the same bytes for the same numbers."""
    return _saved(drawing, "svg", metadata={"Date": None, "Title": drawing.title}).decode("utf-8")


def to_png(drawing: ReportFigure, dpi: int = 200) -> bytes:
    """The drawing as a PNG file on white."""
    return _saved(drawing, "png", dpi=dpi, facecolor="white")


def to_inline_svg(drawing: ReportFigure) -> str:
    """The drawing as part of a page: with its colours and fonts, and a text for screen readers."""
    text = to_svg(drawing)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"(font: )([\d.]+px)[^;\"]*", r"\1\2 var(--font)", text)
    for place, colour in enumerate(SERIES):
        text = text.replace(colour, f"var(--series-{place + 1})")
    text = text.replace(INK, "currentColor").replace(FAINT, "var(--faint)")
    # Several figures on one page: what they name must not clash.
    text = re.sub(r'\bid="([^"]+)"', rf'id="{drawing.name}-\1"', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{drawing.name}-", text)
    view = re.search(r'viewBox="[^"]+"', text)
    named = (
        f'<svg {view[0] if view else ""} xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'aria-labelledby="{drawing.name}-says"><title id="{drawing.name}-says">'
        f"{escape(drawing.title)}. {escape(drawing.caption)}</title>"
    )
    return re.sub(r"<svg[^>]*>", lambda _: named, text, count=1)


def _saved(drawing: ReportFigure, kind: str, **options: Any) -> bytes:
    import matplotlib
    from matplotlib.figure import Figure  # without pyplot: no window, no state

    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": drawing.name}):
        figure = Figure(figsize=drawing.size)
        width, height = drawing.size
        figure.subplots_adjust(drawing.left / width, BOTTOM / height, 1 - RIGHT / width, 1 - TOP / height)
        drawing.draw(figure)
        for axes in figure.axes:
            axes.patch.set_alpha(0)
        figure.patch.set_alpha(0)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, **options)
    return buffer.getvalue()


def slug(*words: str) -> str:
    """A name for files and links: letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(filter(None, words)).lower()).strip("-")
