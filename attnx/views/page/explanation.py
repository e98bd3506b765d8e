"""An explanation as a page of its own, or as a notebook's cell: the text coloured by every method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...results.explanation import Explanation, shares
from .direction import is_right_to_left
from .templating import render


@dataclass(frozen=True, slots=True)
class ColouredUnit:
    """A unit with its score and the colour of it."""

    unit: str
    score: float | None
    share: float  # of the largest score of its method, signed

    @property
    def has_letter(self) -> bool:
        """Whether it has a direction of its own; a bracket or a number takes that of the text."""
        return any(character.isalpha() for character in self.unit)

    @property
    def side(self) -> str:
        """The class of its colour; empty at 0."""
        return "above" if self.share > 0 else "below" if self.share < 0 else ""

    @property
    def strength(self) -> str:
        """How strong the colour is, 0 to 1."""
        return f"{abs(self.share):.2f}"


def page(explanation: Explanation) -> str:
    """A page of one file."""
    return render(
        "explanation.html", title=f"{explanation.predicted}, {explanation.title}", **_shown(explanation)
    )


def fragment(explanation: Explanation) -> str:
    """The same as part of another page, such as a notebook."""
    return render("explanation_cell.html", **_shown(explanation))


def _shown(explanation: Explanation) -> dict[str, Any]:
    rows = [
        (method, [ColouredUnit(*one) for one in zip(explanation.units, scores, shares(scores), strict=True)])
        for method, scores in explanation.scores.items()
    ]
    return {
        "it": explanation,
        "rows": rows,
        "unit": explanation.unit,
        "right_to_left": is_right_to_left(explanation.units),
    }
