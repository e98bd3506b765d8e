"""An explanation on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ...escaping import printable
from ...results.explanation import Explanation, shares
from ...results.formatting import format_number
from ..score_colours import on_white
from .tables import print_table, screen


def print_explanation(explanation: Explanation, console: Console | None = None) -> None:
    """Print the prediction, the units coloured by every method, and the prediction without top units."""
    console = console or screen()
    of = f", example {explanation.id}" if explanation.id else ""
    console.print(Text(printable(f"\n{explanation.title}{of}, seed {explanation.seed}".lstrip(), lines=True)))
    if explanation.query:
        console.print(Text(printable(f"query: {' '.join(explanation.query)}")))
    line = Text("predicted ")
    line.append(printable(explanation.predicted), "bold")
    known = f", labelled {explanation.label}" if explanation.label else ""
    chances = ", ".join(f"{name} {format_number(p)}" for name, p in explanation.probabilities.items())
    line.append(printable(f"{known}: {chances}"))
    console.print(line)
    if explanation.unknown:
        console.print(
            Text(printable(f"unknown to the model (never in train): {', '.join(explanation.unknown)}"))
        )
    coloured = console.is_terminal and not console.no_color
    for method, scores in explanation.scores.items():
        console.print()
        console.print(Text(printable(method), "bold"))
        text = Text()
        for unit, score, share in zip(explanation.units, scores, shares(scores), strict=True):
            style = f"#111111 on {on_white(share)}" if coloured else ""
            text.append(printable(unit), style)
            text.append("" if coloured else f"({format_number(score)})").append(" ")
        console.print(text)
    if explanation.left_out:
        console.print()
        rows = [
            [
                explanation.named(out),
                format_number(out.probability),
                format_number(out.change),
                ", ".join(out.top_of),
            ]
            for out in explanation.left_out
        ]
        predicted = f"p({printable(explanation.predicted)})"
        print_table(console, [f"removed {explanation.unit}"], [predicted, "change"], rows, ["ranked high by"])
