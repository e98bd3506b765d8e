"""Explanations as Markdown pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..escaping import markdown
from ..results.formatting import format_number
from .markdown import table

if TYPE_CHECKING:
    from ..results.explanation import Explanation, Explanations, MetricValue


def explanation_page(explanation: Explanation) -> str:
    """The prediction for one example, scores, metrics, and the prediction without top units."""
    return "\n".join([f"# {markdown(explanation.title)}", "", *_section(explanation)]) + "\n"


def explanations_page(explanations: Explanations) -> str:
    """The same for several examples, one section for each."""
    lines = [f"# {markdown(explanations.title)}"]
    for number, explanation in enumerate(explanations, start=1):
        named = f": {markdown(explanation.id)}" if explanation.id else ""
        lines += ["", f"## Text {number}{named}", "", *_section(explanation)]
    return "\n".join(lines) + "\n"


def _section(explanation: Explanation) -> list[str]:
    chances = ", ".join(f"{name} {format_number(p)}" for name, p in explanation.probabilities.items())
    lines = [
        f"Seed {explanation.seed}. Predicted **{markdown(explanation.predicted)}** ({markdown(chances)})."
    ]
    for of in explanation.by_class:
        if explanation.others or explanation.versus or of.target != explanation.predicted:
            what = explanation.explained if of.target == explanation.target else f"p({of.target})"
            lines += ["", f"Scores for {markdown(what)}:"]
        methods = list(of.scores)
        rows = (
            (unit, *(format_number(of.scores[name][at]) for name in methods))
            for at, unit in enumerate(explanation.units)
        )
        lines += ["", *table((explanation.unit, *methods), rows), *_metrics(of.metrics)]
    if explanation.left_out:
        lines += [
            "",
            *table(
                (f"removed {explanation.unit}", markdown(explanation.explained), "change", "ranked high by"),
                (
                    (
                        explanation.named(out),
                        *map(format_number, (out.probability, out.change)),
                        ", ".join(out.top_of),
                    )
                    for out in explanation.left_out
                ),
            ),
        ]
    return lines


def _metrics(metrics: Sequence[MetricValue]) -> list[str]:
    if not metrics:
        return []
    rows = (
        (one.title, one.method or "the model itself", *map(format_number, (one.value, one.random)))
        for one in metrics
    )
    return ["", *table(("metric", "method", "value", "random scores"), rows)]
