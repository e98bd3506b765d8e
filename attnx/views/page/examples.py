"""Examples as the script of the page reads them: one byte a score, as many as fit into a page."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...escaping import printable, script_json
from ...results.examples import Examples, Scores
from .direction import is_right_to_left

if TYPE_CHECKING:
    from ...results.report import Report

MOST_BYTES = 8_500_000  # of examples in a page, which then stays below 10 MB with all its figures
LEVELS = 127  # steps of a score on either side of 0


@dataclass(frozen=True, slots=True)
class Browsed:
    """The examples that go into the page, among all there are."""

    head: dict[str, Any]  # what the script reads besides the examples
    examples: Examples
    rows: list[int]  # of the examples that are shown
    seeds: int  # that are shown

    @property
    def shown(self) -> int:
        """How many examples are shown."""
        return len(self.rows)

    @property
    def marked(self) -> bool:
        """Whether units of some example are known to matter."""
        return bool(self.examples.units) and any(self.examples.rationales[row] for row in self.rows)

    @property
    def pictured(self) -> bool:
        """Whether the examples are pictures."""
        return any(row in self.examples.pictures for row in self.rows)

    @property
    def decides(self) -> bool:
        """Whether the examples have their part in the test that decides."""
        return bool(self.head["decides"])

    def records(self) -> Iterator[dict[str, Any]]:
        """What the script reads about each example, one after the other."""
        starts = np.concatenate([[0], np.cumsum(self.examples.lengths)]).astype(int)
        return (_record(self.examples, row, int(starts[row]), self.seeds) for row in self.rows)

    def script(self) -> str:
        """All that the script reads, as JSON; all records at once would take seven times its memory."""
        examples = ",".join(map(script_json, self.records()))
        return f'{script_json(self.head)[:-1]},"examples":[{examples}]}}'

    @property
    def says(self) -> str:
        """How many of the run's examples the page shows."""
        total, all_seeds = len(self.examples), self.examples.seeds
        seeds = f"{self.seeds} training seeds" if self.seeds > 1 else f"seed {all_seeds[0]}"
        examples = (
            f"all {total} examples"
            if self.shown == total
            else f"{self.shown} of {total} examples, evenly spread over the test split"
        )
        left = self.shown < total or self.seeds < len(all_seeds)
        rest = "; attnx.load(RUN).report.examples() has the others" if left else ""
        return f"{examples.capitalize()}, {seeds}{rest}."


def pair_of_methods(examples: Examples) -> tuple[str, ...]:
    """The first two methods, the model's own attention first if it has one."""
    return examples.methods[:2]


def pair_of(report: Report, examples: Examples) -> tuple[str, str] | None:
    """The methods to compare first: what the run is about, and what to use instead, else the best other."""
    asked = [v.explanation for v in report.verdicts if v.explanation in examples.methods]
    ranked = sorted(report.ranking, key=lambda one: not one.recommended)
    names = [*asked[:1], *(one.explanation for one in ranked), *examples.methods]
    found = list(dict.fromkeys(name for name in names if name in examples.methods))
    return (found[0], found[1]) if len(found) > 1 else None


def browse(
    examples: Examples,
    unit: str = "unit",
    *,
    pair: tuple[str, str] | None = None,
    most_bytes: int = MOST_BYTES,
) -> Browsed:
    """As many examples as fit, evenly spread; only the first seed if all seeds do not fit.

    If examples have pictures, only those with a picture are shown. `unit` is what a reader calls a unit,
    `pair` the two methods that are compared first.
    """
    total, seeds = len(examples), len(examples.seeds)
    among = np.array(sorted(examples.pictures) or range(total))
    while True:
        each = _bytes_of(examples, seeds) / max(1, total)
        fits = int(most_bytes / max(1.0, each))
        if fits >= len(among) or seeds == 1:
            break
        seeds = 1
    shown = min(len(among), fits)
    rows: list[int] = among[np.unique(np.linspace(0, len(among) - 1, shown).round().astype(int))].tolist()
    head = {
        "unit": unit,
        "labels": [printable(name) for name in examples.label_names],
        "seeds": list(examples.seeds[:seeds]),
        "methods": [
            {"name": name, "signed": bool((examples.scores[name].shares < 0).any())}
            for name in examples.methods
        ],
        "pair": [list(examples.methods).index(name) for name in pair or ()],
        "decides": bool(examples.gains),
        "columns": [{"title": c.title, "direction": c.direction} for c in examples.columns],
    }
    return Browsed(head, examples, rows, seeds)


def _bytes_of(examples: Examples, seeds: int) -> float:
    """The approximate length of the payload of all examples."""
    texts = sum(len(unit) + 2 for units in examples.units for unit in units)
    scores = 1.4 * float(examples.lengths.sum()) * len(examples.scores)
    numbers = 8 * (len(examples.columns) + len(examples.label_names) + 4 * len(examples.scores))
    pictures = 1.34 * sum(map(len, examples.pictures.values())) / max(1, len(examples.pictures))
    return texts + seeds * (scores + len(examples) * (numbers + 40)) + (60 + pictures) * len(examples)


def _record(examples: Examples, row: int, start: int, seeds: int) -> dict[str, Any]:
    units = slice(start, start + int(examples.lengths[row]))
    record: dict[str, Any] = {
        "id": examples.ids[row],
        "label": int(examples.labels[row]),
        "by_seed": [_by_seed(examples, seed, row, units) for seed in range(seeds)],
    }
    if row in examples.pictures:
        record["picture"] = base64.b64encode(examples.pictures[row]).decode("ascii")
    if examples.units:
        record["units"] = "\t".join(printable(unit) for unit in examples.units[row])
        if is_right_to_left(examples.units[row]):
            record["right_to_left"] = True
        query, rationale = examples.queries[row], examples.rationales[row]
        if query:
            record["query"] = printable(" ".join(query))
        if rationale:
            record["rationale"] = [at for at, marked in enumerate(rationale) if marked]
    return record


def _by_seed(examples: Examples, seed: int, row: int, units: slice) -> dict[str, Any]:
    return {
        "predicted": int(examples.predicted[seed, row]),
        "p": [_rounded(p) for p in examples.probabilities[seed, row].tolist()],
        "measures": [_rounded(value) for value in examples.measures[seed, row].tolist()],
        "without": [
            _rounded(float(examples.without_top[name][seed, row])) if name in examples.without_top else None
            for name in examples.methods
        ],
        "gain": [
            _rounded(float(examples.gains[name][seed, row])) if name in examples.gains else None
            for name in examples.methods
        ],
        "best": None if examples.best_gain is None else _rounded(float(examples.best_gain[seed, row])),
        "scores": [_score_bytes(examples.scores[name], seed, row, units) for name in examples.methods],
        "largest": [_rounded(float(examples.scores[name].largest[seed, row])) for name in examples.methods],
    }


def _score_bytes(scores: Scores, seed: int, row: int, units: slice) -> str | None:
    """A signed byte for every unit, in base64: its share of the largest score; None without scores."""
    if np.isnan(scores.largest[seed, row]):
        return None
    shares = np.nan_to_num(scores.shares[seed, units].astype(float))
    steps = np.clip(np.rint(LEVELS * shares), -LEVELS, LEVELS).astype(np.int8)
    return base64.b64encode(steps.tobytes()).decode("ascii")


def _rounded(value: float) -> float | None:
    """Four significant digits; None if it is not finite."""
    return float(f"{value:.4g}") if np.isfinite(value) else None
