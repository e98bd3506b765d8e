"""Explanations as a page of their own, or as a notebook's cell: the text coloured by every method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...results.explanation import RANDOM_DRAWS, ClassScores, Explanation, Explanations, MetricValue, shares
from .direction import is_right_to_left
from .headline import of_explanation
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


@dataclass(frozen=True, slots=True)
class ShownClass:
    """The scores for one class of a text, ready to be coloured."""

    explained: str  # what they explain, as a formula; empty if it is simply the prediction
    methods: tuple[tuple[str, bool, tuple[ColouredUnit, ...]], ...]  # name, whether the same for all, units
    metrics: tuple[MetricValue, ...]


def page(explanation: Explanation) -> str:
    """A page of one file."""
    headline = of_explanation(explanation)
    title = f"{headline} {explanation.title}"
    return render("explanation.html", title=title, headline=headline, **shown(explanation))


def page_of_several(explanations: Explanations) -> str:
    """A page of one file with all texts."""
    return render(
        "explanations.html",
        title=f"{len(explanations)} texts, {explanations.title}",
        it=explanations,
        texts=[shown(explanation) for explanation in explanations],
    )


def shown(explanation: Explanation) -> dict[str, Any]:
    """What the templates of explained texts need."""
    return {
        "it": explanation,
        "classes": [_shown_class(explanation, of) for of in explanation.by_class],
        "unit": explanation.unit,
        "right_to_left": is_right_to_left(explanation.units),
        "draws": RANDOM_DRAWS,
        "answer_rows": _answer_rows(explanation),
    }


def _answer_rows(
    explanation: Explanation,
) -> list[tuple[str, list[tuple[str, float, tuple[ColouredUnit, ...]]]]]:
    """By method the pieces of an answer, each with its probability and the coloured units."""
    answer = explanation.answer
    if answer is None:
        return []
    return [
        (
            method,
            [
                (
                    piece,
                    p,
                    tuple(
                        ColouredUnit(*one) for one in zip(explanation.units, row, shares(row), strict=True)
                    ),
                )
                for piece, p, row in zip(answer.labels, answer.probabilities, rows, strict=True)
            ],
        )
        for method, rows in answer.scores.items()
    ]


def _shown_class(explanation: Explanation, of: ClassScores) -> ShownClass:
    other = bool(explanation.others or explanation.versus) or of.target != explanation.predicted
    formula = explanation.explained if of.target == explanation.target else f"p({of.target})"
    return ShownClass(
        explained=formula if other else "",
        methods=tuple(
            (
                method,
                other and method in explanation.same_for_all,
                tuple(
                    ColouredUnit(*one) for one in zip(explanation.units, scores, shares(scores), strict=True)
                ),
            )
            for method, scores in of.scores.items()
        ),
        metrics=of.metrics,
    )
