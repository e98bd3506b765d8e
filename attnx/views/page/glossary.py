"""What the terms and measures of a page mean: a sentence, the formula and the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import AttnxError
from ...host.cards import Kind
from ...host.catalog import Catalog

if TYPE_CHECKING:
    from ...results.report import Report


@dataclass(frozen=True, slots=True)
class Entry:
    """The documentation of a component."""

    summary: str
    definition: tuple[str, ...]  # paragraphs
    source: str


def look_up(catalog: Catalog, kind: Kind, names: Mapping[str, str]) -> dict[str, Entry]:
    """By label the documentation of components, given by name; one that is not installed has no entry."""
    found = {}
    for label, name in names.items():
        try:
            component = catalog.find(kind, name)
        except AttnxError:  # an object of the user's, or of a plugin that is not installed
            continue
        paragraphs = component.definition().split("\n\n")
        found[label] = Entry(
            summary=component.summary,
            definition=tuple(filter(None, (_joined(paragraph) for paragraph in paragraphs))),
            source=component.card.citation,
        )
    return found


@dataclass(frozen=True, slots=True)
class Term:
    """A word that a newcomer may not know, and what it means."""

    name: str
    meaning: str


def terms_of(report: Report) -> list[Term]:
    """The terms that this report uses, in the order in which a reader needs them."""
    unit = report.unit
    metrics = {used.name for used in report.components if used.kind == "metric"}
    methods = {used.name for used in report.components if used.kind == "importance"}
    measures = {summary.measure for summary in report.summaries}
    repeated = "other examples and training runs" if len(report.spec.seeds) > 1 else "other test examples"
    found = [
        (True, "explanation", f"a score for each {unit} of an example, given by an importance method"),
        (
            "random" in report.baseline_names,
            "random baseline",
            "the same measure for random scores; a useful explanation does better",
        ),
        (
            "uniform" in report.baseline_names,
            "uniform",
            f"the same measure for scores that are equal for every {unit}",
        ),
        (
            bool(report.ranking),
            "share",
            f"how far an explanation gets from random to best: 0 % is as good as ranking {unit}s at random, "
            f"100 % as good as the best ranking that a search found for the same example and model",
        ),
        (
            True,
            "interval",
            f"a 95 % confidence interval: if the measurement were repeated with {repeated}, 95 of 100 such "
            "intervals would contain the true mean; that of a share is over test examples",
        ),
        (
            "comprehensiveness" in metrics,
            "comprehensiveness",
            f"how far the probability of the prediction falls when the highest-scored {unit}s are deleted",
        ),
        (
            "sufficiency" in metrics,
            "sufficiency",
            f"how far the probability of the prediction falls when only the highest-scored {unit}s are left",
        ),
        (
            "aopc" in measures,
            "AOPC",
            f"area over the perturbation curve: the mean of that fall over several shares of the {unit}s, "
            "by default 1, 5, 10, 20 and 50 %",
        ),
        (
            "tau" in measures,
            "Kendall's τ (tau)",
            "a rank correlation: 1 if two rankings are the same, 0 if unrelated, −1 if one is reversed",
        ),
        (
            "loo" in methods,
            "leave-one-out (loo)",
            f"the score of a {unit} is how much the output changes when this {unit} alone is deleted",
        ),
        (
            "projection" in report.labels,
            "projection",
            "the function that turns raw attention scores into weights, e.g. softmax",
        ),
        (
            any(summary.family == "ground-truth" for summary in report.summaries),
            "rationale",
            f"the {unit}s of an example that are known to matter",
        ),
    ]
    return [Term(name, meaning) for used, name, meaning in found if used]


def _joined(paragraph: str) -> str:
    """A paragraph in one piece; one that was laid out by hand keeps its lines."""
    return paragraph.strip("\n") if "\n " in paragraph else " ".join(paragraph.split())
