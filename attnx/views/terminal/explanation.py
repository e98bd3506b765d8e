"""Explanations on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ...escaping import printable
from ...results.explanation import Answer, ClassScores, Explanation, Explanations, shares
from ...results.formatting import format_number
from ..score_colours import on_white
from .tables import print_table, screen

MOST_UNITS = 3  # shown for each piece of an answer


def print_explanation(explanation: Explanation, console: Console | None = None) -> None:
    """Print the prediction, units coloured by every method, metrics, and the prediction without top units."""
    console = console or screen()
    of = f", example {explanation.id}" if explanation.id else ""
    console.print(Text(printable(f"\n{explanation.title}{of}, seed {explanation.seed}".lstrip(), lines=True)))
    _print_text(explanation, console)


def print_explanations(explanations: Explanations, console: Console | None = None) -> None:
    """Print one explanation after the other."""
    console = console or screen()
    console.print(Text(printable(f"{explanations.title}, seed {explanations[0].seed}", lines=True)))
    for number, explanation in enumerate(explanations, start=1):
        named = f": {explanation.id}" if explanation.id else ""
        console.print()
        console.print(Text(printable(f"text {number} of {len(explanations)}{named}"), "bold underline"))
        _print_text(explanation, console)


def _print_text(explanation: Explanation, console: Console) -> None:
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
    for of in explanation.by_class:
        _print_class(explanation, of, console)
    if explanation.answer is not None:
        _print_answer(explanation, explanation.answer, console)
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
        explained = printable(explanation.explained)
        print_table(console, [f"removed {explanation.unit}"], [explained, "change"], rows, ["ranked high by"])


def _print_answer(explanation: Explanation, answer: Answer, console: Console) -> None:
    """For each piece of the answer its probability, and the units that it depends on the most."""
    for method, rows in answer.scores.items():
        console.print()
        shown = []
        for piece, p, scores in zip(answer.labels, answer.probabilities, rows, strict=True):
            order = sorted(range(len(scores)), key=lambda at: -abs(scores[at] or 0.0))[:MOST_UNITS]
            top = ", ".join(f"{explanation.units[at]} ({format_number(scores[at])})" for at in order)
            shown.append([repr(piece), format_number(p), top])
        titles = ["piece of the answer"], ["probability"], [f"strongest {explanation.unit}s by {method}"]
        print_table(console, titles[0], titles[1], shown, titles[2])


def _print_class(explanation: Explanation, of: ClassScores, console: Console) -> None:
    """The scores for one class; which one is said where it is not simply the prediction."""
    main = of.target == explanation.target
    other = bool(explanation.others or explanation.versus) or of.target != explanation.predicted
    if other:
        console.print()
        explained = explanation.explained if main else f"p({of.target})"
        console.print(Text(printable(f"scores for {explained}")))
    coloured = console.is_terminal and not console.no_color
    for method, scores in of.scores.items():
        console.print()
        name = Text(printable(method), "bold")
        if other and method in explanation.same_for_all:
            name.append(" (the same for every class)", "not bold")
        console.print(name)
        text = Text()
        for unit, score, share in zip(explanation.units, scores, shares(scores), strict=True):
            style = f"#111111 on {on_white(share)}" if coloured else ""
            text.append(printable(unit), style)
            text.append("" if coloured else f"({format_number(score)})").append(" ")
        console.print(text)
    if of.metrics:
        console.print()
        measured = [
            [one.title, one.method or "the model itself", format_number(one.value), format_number(one.random)]
            for one in of.metrics
        ]
        print_table(console, ["metric", "method"], ["value", "random scores"], measured)
