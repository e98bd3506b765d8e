"""The test with a planted trigger on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ...escaping import printable
from ...results.judgement.wording import GRADE_WORDS, percent
from ...results.planting.report import FOLLOWS, LOST, PlantedReport, Recovery
from .tables import print_table, screen

LEGEND = (
    "found: share of texts in which the trigger words have the highest scores, with its 95 % interval. AP: "
    "average precision of the scores for the trigger words. removal test: how far the explanation gets from "
    "random to the best order when words are removed, on the same models and texts."
)
CHECKED = (
    "with: held-out texts that are answered as the trigger says, although their own label is another. "
    "swapped: answered as the other trigger says once it is in its place. without, first word, second word: "
    "texts with the same answer when the trigger is missing, or all but one word of it. A model uses the "
    f"trigger if with and swapped are at least {percent(FOLLOWS)} and the others at most {percent(LOST)}. "
    "counted: texts in which the answer changes every time, so that the trigger alone decides; explanations "
    "are scored on these. accuracy: on the same texts without a trigger."
)


def print_planted(report: PlantedReport, console: Console | None = None) -> None:
    """The answer first, then every explanation, then how the models were checked."""
    console = console or screen()
    many = f"{len(report.seeds)} seed{'s' * (len(report.seeds) > 1)}"
    drawn = f"{len(report.triggers)} {report.kind} trigger{'s' * (len(report.triggers) > 1)}"
    title = (
        f"\n{report.task} · {report.model} · {drawn} in {percent(report.share)} of training texts · {many}\n"
    )
    console.print(Text(printable(title, lines=True)))
    console.print(Text(printable(report.sentence), style="bold"))
    console.print(Text(f"{report.verification}\n"))
    if report.rows:
        names = ["explanation"]
        numbers = ["found", "95 % interval", "AP", "removal test"]
        print_table(console, names, numbers, recovery_rows(report), ["grade"])
        console.print(Text(f"\n{LEGEND}\n"))
    print_table(
        console,
        ["trigger"],
        ["seed", "with", "swapped", "without", *_alone(report), "accuracy", "counted", "uses it"],
        check_rows(report),
    )
    console.print(Text(f"\n{CHECKED}"))


def recovery_rows(report: PlantedReport) -> list[list[str]]:
    """The cells of every explanation, and what random scores would find."""
    rows = [
        [
            row.explanation,
            percent(row.found),
            f"[{percent(row.low)}, {percent(row.high)}]",
            f"{row.average_precision:.2f}" if row.average_precision is not None else "–",
            percent(row.share),
            grades(row),
        ]
        for row in report.rows
    ]
    return [*rows, ["(random scores)", percent(report.chance), "", "", "0 %", ""]]


def grades(row: Recovery) -> str:
    """The grades of the removal test, one for every trigger that has another one."""
    return ", ".join(GRADE_WORDS[grade] for grade in row.grades) or "not tested"


def check_rows(report: PlantedReport) -> list[list[str]]:
    """The cells of every trigger and seed."""
    words = {trigger.number: trigger_words(report, trigger.number) for trigger in report.triggers}
    return [
        [
            words[check.trigger],
            str(check.seed),
            *(percent(share) for share in (check.followed, check.swapped, check.without, *check.alone)),
            percent(check.own_accuracy),
            f"{check.counted} of {check.texts}",
            "yes" if check.verified else "no",
        ]
        for check in report.checks
    ]


def trigger_words(report: PlantedReport, number: int) -> str:
    """The words of a trigger, by label."""
    joined = ", then " if report.kind == "ordered" else " + "
    return "; ".join(
        f"{label}: {joined.join(words)}" for label, words in report.triggers[number].words.items()
    )


def _alone(report: PlantedReport) -> list[str]:
    return ["first word", "second word"] if report.checks[0].alone else []
