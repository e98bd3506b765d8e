"""Runs compared on the examples and seeds that all of them have, example by example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from ..errors import UsageError
from .comparison import ONE_SEED, ComparedRun, Comparison, Difference, DifferenceOutcome, shares_of
from .examples import Array, ExampleColumn, Examples
from .report import Report
from .statistics import LEVEL, holm, mean_over_seeds, p_values, paired_interval

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ACCURACY: Final = ExampleColumn("accuracy", "accuracy", None, None, "up")


@dataclass(frozen=True)
class _Side:
    """A run with its examples."""

    letter: str
    report: Report
    examples: Examples

    @cached_property
    def rows(self) -> dict[str, int]:
        return {id_: row for row, id_ in enumerate(self.examples.ids)}

    @property
    def measured(self) -> dict[ExampleColumn, int]:
        return {column: at for at, column in enumerate(self.examples.columns)}

    @cached_property
    def whole(self) -> dict[ExampleColumn, tuple[float | None, ...]]:
        """What is measured of the split as a whole: a value for each seed."""
        return {
            column: s.seeds
            for s in self.report.summaries
            if s.group == "all"
            and not s.yardstick
            and (column := ExampleColumn(s.metric, s.measure, s.explanation, s.reference, s.direction))
            not in self.measured
        }

    def at(self, seeds: Sequence[int], ids: Sequence[str]) -> tuple[list[list[int]], list[int]]:
        return [[self.examples.seeds.index(s)] for s in seeds], [self.rows[id_] for id_ in ids]

    def values(self, columns: Sequence[ExampleColumn], seeds: Sequence[int], ids: Sequence[str]) -> Array:
        """[S, N, 1 + M] whether the answer is right, and the measures."""
        at = self.at(seeds, ids)
        right = (self.examples.predicted == self.examples.labels)[at].astype(float)  # [S, N]
        measures = self.examples.measures[at][:, :, [self.measured[c] for c in columns]]
        return np.concatenate([right[:, :, None], measures], axis=2)

    def wholes(self, columns: Sequence[ExampleColumn], seeds: Sequence[int]) -> Array:
        """[S, 1, M] of the split as a whole."""
        found = np.array([self.whole[c] for c in columns], dtype=float)
        return found.T[[self.examples.seeds.index(s) for s in seeds]][:, None, :]


def compare_explanations(report: Report) -> Comparison:
    """Every explanation of one run compared with its first, on the same examples and trained models."""
    examples = report.examples()
    asked = [s.explanation for s in report.summaries if s.explanation is not None and not s.yardstick]
    names = list(dict.fromkeys(asked))
    if len(names) < 2:
        raise UsageError(
            f"Run {report.fingerprint} has only one explanation: name a second run, or evaluate with "
            "several --explanation."
        )
    return compare_reports([_of_explanation(report, examples, name) for name in names], models=False)


def _of_explanation(report: Report, examples: Examples, name: str) -> Report:
    """The part of a run that is about one explanation, whose measures are called as those of the others."""
    at = [number for number, column in enumerate(examples.columns) if column.explanation == name]
    part = replace(
        examples,
        columns=tuple(replace(examples.columns[number], explanation="") for number in at),
        measures=examples.measures[:, :, at],
    )
    summaries = [s.model_copy(update={"explanation": ""}) for s in report.summaries if s.explanation == name]
    labels = report.labels | {"explanation": name}
    update = {
        "labels": labels,
        "summaries": tuple(s for s in summaries if not s.yardstick),
        "verdicts": tuple(v for v in report.verdicts if v.explanation == name),
    }
    return report.model_copy(update=update).with_examples(part)


def compare_reports(reports: Sequence[Report], *, models: bool = True) -> Comparison:
    """Each run compared with the first, on the examples and seeds that all have."""
    if not 2 <= len(reports) <= len(LETTERS):
        raise UsageError(f"{len(reports)} runs given: compare between 2 and {len(LETTERS)} runs.")
    sides = [_Side(letter, r, r.examples()) for letter, r in zip(LETTERS, reports, strict=False)]
    ids, other = _common_ids(sides)
    seeds = [s for s in sides[0].examples.seeds if all(s in side.examples.seeds for side in sides)]
    if not seeds:
        said = " and ".join(",".join(map(str, side.examples.seeds)) for side in sides)
        raise UsageError(
            f"These runs have no seed in common ({said}): evaluate one of them with the --seeds of the other."
        )
    columns = _in_all([side.measured for side in sides])
    whole = _in_all([side.whole for side in sides])
    apart = any(len(side.examples) != len(ids) for side in sides)  # a split as a whole is another split then
    rows = [row for side in sides[1:] for row in _rows(sides[0], side, columns, seeds, ids)]
    if not models:
        rows = [row for row in rows if row.metric != ACCURACY.metric]
    if whole and not apart:
        rows += [row for side in sides[1:] for row in _whole_rows(sides[0], side, whole, seeds)]
    return Comparison(
        runs=tuple(_run(side, sides) for side in sides),
        seeds=tuple(seeds),
        examples=len(ids),
        shares=shares_of({side.letter: side.report.verdicts for side in sides}),
        rows=_corrected(sorted(rows, key=lambda row: row.run)),
        notes=tuple(_notes(sides, seeds, ids, other, whole if apart else [])),
    )


def _common_ids(sides: Sequence[_Side]) -> tuple[list[str], int]:
    """Ids of examples that are the same in all runs, and how many others share an id alone."""
    first, *others = sides
    shared = [id_ for id_ in first.examples.ids if all(id_ in side.rows for side in others)]
    ids = [id_ for id_ in shared if all(_same(first, side, id_) for side in others)]
    if not ids:
        names = " and ".join(f"'{side.report.labels['task']}'" for side in sides)
        other = f": {len(shared)} ids are the same but have other texts or labels" if shared else ""
        raise UsageError(f"These runs have no example in common ({names}){other}. Compare runs on one task.")
    return ids, len(shared) - len(ids)


def _same(a: _Side, b: _Side, id_: str) -> bool:
    """Whether an example has the same label, and the same units and query where they were kept."""
    of = [(side.examples, side.rows[id_]) for side in (a, b)]
    if len({e.label_names[int(e.labels[row])] for e, row in of}) > 1:
        return False
    if not all(e.units for e, _ in of):
        return True
    texts = [(e.units[row], e.queries[row] if e.queries else None) for e, row in of]
    if texts[0] == texts[1]:
        return True
    written = {side.report.provenance.data.get("texts") for side in (a, b)}
    return len(written) > 1 and _same_words(texts[0][0], texts[1][0])


def _same_words(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether one text is the other as it was written: as many words, and most differ at most in case.

    A task changes the others, such as numbers, for models that do not read texts as they are written.
    """
    if len(a) != len(b):
        return False
    return 2 * sum(x.casefold() == y.casefold() for x, y in zip(a, b, strict=True)) > len(a)


def _in_all(found: Sequence[dict[ExampleColumn, Any]]) -> list[ExampleColumn]:
    return [column for column in found[0] if all(column in other for other in found)]


def _rows(
    first: _Side, other: _Side, columns: Sequence[ExampleColumn], seeds: Sequence[int], ids: Sequence[str]
) -> list[Difference]:
    a, b = (side.values(columns, seeds, ids) for side in (first, other))
    return _differences(other.letter, [ACCURACY, *columns], a, b, whole_split=False)


def _whole_rows(
    first: _Side, other: _Side, columns: Sequence[ExampleColumn], seeds: Sequence[int]
) -> list[Difference]:
    a, b = (side.wholes(columns, seeds) for side in (first, other))
    return _differences(other.letter, columns, a, b, whole_split=True)


def _differences(
    letter: str, columns: Sequence[ExampleColumn], a: Array, b: Array, *, whole_split: bool
) -> list[Difference]:
    """A row for each of M columns of [S, N, M] values; the p-values are not corrected yet."""
    a, b = (np.where(np.isfinite(a) & np.isfinite(b), side, np.nan) for side in (a, b))
    found = paired_interval(b, a)
    p, first, other = p_values(b - a), mean_over_seeds(a), mean_over_seeds(b)
    return [
        Difference(
            run=letter,
            metric=c.metric,
            measure=c.measure,
            explanation=c.explanation,
            reference=c.reference,
            direction=c.direction,
            whole_split=whole_split,
            first=first[m],
            other=other[m],
            difference=found.mean[m],
            low=found.low[m],
            high=found.high[m],
            p=p[m],
            n=int((~np.isnan(a[:, :, m])).sum()),
            outcome="undefined",
        )
        for m, c in enumerate(columns)
    ]


def _corrected(rows: Sequence[Difference]) -> tuple[Difference, ...]:
    """The rows with p-values for all of them together, and what these say."""
    adjusted = holm(np.array([np.nan if row.p is None else row.p for row in rows]))
    return tuple(
        row.model_copy(update={"p": None if np.isnan(p) else float(p), "outcome": _outcome(row, float(p))})
        for row, p in zip(rows, adjusted, strict=True)
    )


def _outcome(row: Difference, p: float) -> DifferenceOutcome:
    if np.isnan(p) or row.difference is None:
        return "undefined"
    if row.low == row.high == 0:
        return "the same"
    if p > 1 - LEVEL:
        return "no significant difference"
    if row.direction == "none":
        return "higher" if row.difference > 0 else "lower"
    return "better" if (row.difference > 0) == (row.direction == "up") else "worse"


def _run(side: _Side, sides: Sequence[_Side]) -> ComparedRun:
    mine = {*side.measured, *side.whole}
    others = dict.fromkeys(column for other in sides for column in (*other.measured, *other.whole))
    return ComparedRun(
        letter=side.letter,
        run=side.report.fingerprint,
        labels=_labels(side.report, [other.report for other in sides]),
        seeds=side.examples.seeds,
        examples=len(side.examples),
        without=tuple(column.title for column in others if column not in mine),
    )


def _labels(report: Report, reports: Sequence[Report]) -> dict[str, str]:
    """What a run is of: its parts, and the training and the limits in which these runs differ."""
    found = dict(report.labels)
    for name in ("training", "limit"):
        mine, *others = (one.spec.model_dump(include={name})[name] for one in (report, *reports))
        apart = {key: value for key, value in mine.items() if any(o.get(key) != value for o in others)}
        if any(other != mine for other in others):
            given = [f"{key}={value}" for key, value in apart.items() if value is not None]
            found[name] = ",".join(given) or f"usual {name}"
    return found


def _notes(
    sides: Sequence[_Side],
    seeds: Sequence[int],
    ids: Sequence[str],
    other: int,
    whole: Sequence[ExampleColumn],
) -> Iterator[str]:
    """What was not compared, and what the numbers do not show."""
    if any(len(side.examples) != len(ids) for side in sides):
        sizes = ", ".join(f"{side.letter} has {len(side.examples)}" for side in sides)
        yield f"only the {len(ids)} examples that all runs share are compared ({sizes})"
    if other:
        many = f"{other} example{'s have' if other > 1 else ' has'}"
        yield f"{many} the same id but another text or label: not compared"
    if not all(side.examples.units for side in sides):
        yield "not every run stored its texts (--keep all): examples are matched by id and label"
    if any(len(side.examples.seeds) != len(seeds) for side in sides):
        said = ", ".join(f"{s.letter} has {','.join(map(str, s.examples.seeds))}" for s in sides)
        yield f"only the seeds that all runs share are compared: {','.join(map(str, seeds))} ({said})"
    if len(seeds) == 1:
        yield ONE_SEED
    if whole:
        names = ", ".join(column.title for column in whole)
        yield f"not compared, because they are measured on all examples of a run together: {names}"
    models = {side.report.fingerprint: side for side in sides}  # one, where explanations are compared
    for side in models.values():
        of = f"{side.letter}: " if len(models) > 1 else ""
        yield from (
            f"{of}{caution.text}"
            for caution in side.report.warnings
            if caution.kind == "not-better-than-constant"
        )
    for side in sides:
        missing = _run(side, sides).without
        if missing:
            yield f"{side.letter} does not have: {', '.join(missing)}"
