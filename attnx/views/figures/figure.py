"""Figures as files and as part of a page: one drawing, in SVG, PDF or PNG."""

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
from ..palette import LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK: Final = LIGHT.ink
FAINT: Final = LIGHT.faint
SERIES: Final = LIGHT.series  # dashes and markers differ as well
DASHES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
MARKERS: Final = ("o", "s", "^", "D", "v", "P")
BOTTOM, RIGHT, TOP = 0.5, 0.15, 0.25  # inches
SETTINGS: Final[Any] = {
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
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
    leading: bool = False  # one of the few that a page shows unfolded
    left: float = 0.75  # inches for the labels of the vertical axis; measuring them would double the time

    def save(self, path: str | Path) -> None:
        """Write the drawing as SVG, PDF or PNG, by the ending of the file's name."""
        path = Path(path)
        forms: dict[str, Callable[[ReportFigure], str | bytes]]
        forms = {".svg": to_svg, ".pdf": to_pdf, ".png": to_png}
        made = forms.get(path.suffix)
        if made is None:
            raise UsageError(
                f"Figures are saved as SVG, PDF or PNG, but '{path}' ends in none of .svg, .pdf and .png."
            )
        write_file(path, made(self))


def to_svg(drawing: ReportFigure) -> str:
    """The drawing as an SVG file, the same bytes for the same numbers."""
    return _saved(drawing, "svg", metadata={"Date": None, "Title": drawing.title}).decode("utf-8")


def to_pdf(drawing: ReportFigure) -> bytes:
    """The drawing as a PDF file for a paper, its text as text; the same bytes for the same numbers."""
    return _saved(drawing, "pdf", metadata={"CreationDate": None, "Title": drawing.title})


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
    for name in ("faint", "good", "bad", "even", "open"):
        text = text.replace(getattr(LIGHT, name), f"var(--{name})")
    text = text.replace(INK, "currentColor")
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
