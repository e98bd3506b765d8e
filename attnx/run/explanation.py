"""Examples explained: predictions, the scores that every method gives their units, and metrics of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..formulas.erasure import remembering
from ..progress import Progress
from ..protocols import Model
from ..request.plan import Tests
from ..results.explanation import TOP, ClassScores, Explanation, MetricValue, RemovedUnit
from ..types import Corpus, Example, ExplainedClass, Trace
from .evaluation_mode import evaluating
from .global_state import standard_state
from .measuring.attribution import Named, trace_of
from .measuring.batch_answers import Pairing, answers_of_batch
from .measuring.explained_scores import Seen, explained_scores
from .measuring.measurement import pairings
from .measuring.output_checks import check_trace
from .measuring.score_keeper import by_unit, probabilities_without
from .measuring.splits import Split, batches


@dataclass(frozen=True, slots=True)
class ExplainedTexts:
    """Examples of one model, and what a reader must know about them."""

    split: Split
    label_names: Sequence[str]
    labelled: bool  # whether the labels of the examples are known
    deletes: bool  # whether units can be deleted
    unknown: Sequence[tuple[str, ...]]  # for every example the words that the model does not know
    title: str
    model_title: str  # of the model in error messages


@dataclass(frozen=True, slots=True)
class _OfClass:
    """What was computed for one explained class of a batch."""

    target: Tensor  # [B]
    scores: dict[str, Tensor]  # by method [B, n]
    answers: tuple[tuple[Pairing, Tensor], ...]  # values [B, M] of every pairing


@standard_state()
def explain_examples(
    model: Model,
    texts: ExplainedTexts,
    tests: Tests[Named],
    classes: Sequence[ExplainedClass],
    *,
    seed: int,
    progress: Progress,
) -> list[Explanation]:
    """The prediction, the scores of every method, metrics, and the effect of removing the top units.

    Batches are those of an evaluation, so a text has the same scores alone and among others.
    """
    split = texts.split
    corpus = split.corpus
    found: dict[int, Explanation] = {}
    with progress.stage("explaining", len(split)) as step, evaluating(model):
        for rows, batch in batches(split):
            trace = trace_of(model, batch)
            check_trace(trace, model.provides, texts.model_title)
            computed = [_compute(model, trace, tests, wanted, corpus, seed) for wanted in classes]
            assembled = _assemble(model, trace, texts, tests, classes, computed, rows, seed)
            found |= zip(rows.tolist(), assembled, strict=True)
            step(len(rows))
    return [found[row] for row in range(len(split))]


def _compute(
    model: Model,
    trace: Trace,
    tests: Tests[Named],
    wanted: ExplainedClass,
    corpus: Corpus,
    seed: int,
) -> _OfClass:
    seen = Seen.of(model, trace, wanted)
    with remembering(seen.model, trace.batch) as deletions:
        importances = {
            named.label: explained_scores(named, model, trace, seen, wanted, seed) for named in tests.methods
        }
        deletions.recalls = True  # from here on outputs are not computed twice, as in an evaluation
        pairs = pairings(tests)
        methods = {named.label: named for named in tests.methods}
        answered = answers_of_batch(pairs, model, trace, seen, seed, importances, corpus, methods)
        answers = [(pair, values) for pair, ((values, *_), _) in zip(pairs, answered, strict=True)]
    scores = {named.label: by_unit(importances[named.label].values, trace.batch) for named in tests.methods}
    return _OfClass(wanted.of(trace), scores, tuple(answers))


def _assemble(
    model: Model,
    trace: Trace,
    texts: ExplainedTexts,
    tests: Tests[Named],
    classes: Sequence[ExplainedClass],
    computed: Sequence[_OfClass],
    rows: Tensor,
    seed: int,
) -> list[Explanation]:
    """One explanation for each example of a batch; of several classes the predicted one is the main one."""
    names, batch = texts.label_names, trace.batch
    methods = [named.label for named in tests.explanations]
    main = [0] * len(batch) if len(classes) == 1 else trace.predicted.tolist()
    of_main = [{name: computed[at].scores[name][row] for name in methods} for row, at in enumerate(main)]
    read = by_unit(batch.mask.float(), batch) > 0  # [B, n]
    tops = [
        {name: _top(values, present) for name, values in scores.items()}
        for scores, present in zip(of_main, read, strict=True)
    ]
    target = torch.stack([computed[at].target[row] for row, at in enumerate(main)])  # [B]
    removed = _removed(model, trace, tops, target, classes[0].versus) if texts.deletes else None
    probabilities = trace.logits.cpu().double().softmax(-1)
    versus = classes[0].versus
    explanations = []
    for row, (example, at) in enumerate(zip(batch.examples, main, strict=True)):
        whole = float(probabilities[row, target[row]])
        whole -= 0.0 if versus is None else float(probabilities[row, versus])
        by_class = [_scores_of_class(of, names, len(example.units), tests, row) for of in computed]
        first = by_class.pop(at)
        explanations.append(
            Explanation(
                title=texts.title,
                id=example.id,
                units=example.units,
                query=example.query,
                label=names[example.label] if texts.labelled else None,
                seed=seed,
                predicted=names[int(trace.predicted[row])],
                probabilities=dict(zip(names, probabilities[row].tolist(), strict=True)),
                target=first.target,
                versus=None if versus is None else names[versus],
                scores=first.scores,
                metrics=first.metrics,
                left_out=_left_out(example, tops[row], removed[row], whole) if removed else (),
                others=tuple(by_class),
                same_for_all=tuple(
                    named.label for named in tests.explanations if named.component.target_use == "ignored"
                ),
                unknown=texts.unknown[int(rows[row])],
                unit="word" if example.rows is None else "unit",
            )
        )
    return explanations


def _top(values: Tensor, read: Tensor) -> list[int]:
    """The highest units that the model reads, of scores [n]."""
    order = values.nan_to_num(-torch.inf).masked_fill(~read, -torch.inf).argsort(descending=True)
    return [int(unit) for unit in order[: min(TOP, int(read.sum()))]]


def _removed(
    model: Model, trace: Trace, tops: Sequence[dict[str, list[int]]], target: Tensor, versus: int | None
) -> list[dict[int, float]]:
    """For every example the explained output without each of its top units; NaN where nothing is left."""
    tried = [list(dict.fromkeys(unit for order in of.values() for unit in order)) for of in tops]
    most = max(map(len, tried))
    if most == 0:
        return [{} for _ in tried]
    units = torch.tensor([(of + (of[:1] or [0]) * most)[:most] for of in tried])  # [B, M]
    output = probabilities_without(model, trace, units, target)
    if versus is not None:
        output = output - probabilities_without(model, trace, units, torch.full_like(target, versus))
    return [
        dict(zip(of, values[: len(of)], strict=True))
        for of, values in zip(tried, output.tolist(), strict=True)
    ]


def _left_out(
    example: Example, tops: dict[str, list[int]], removed: dict[int, float], whole: float
) -> tuple[RemovedUnit, ...]:
    found = [
        RemovedUnit(
            position=unit,
            unit=example.units[unit],
            probability=_number_or_none(p),
            change=_number_or_none(p - whole),
            top_of=tuple(name for name, order in tops.items() if unit in order),
        )
        for unit, p in removed.items()
    ]
    return tuple(sorted(found, key=lambda out: -abs(out.change or 0.0)))


def _scores_of_class(
    of: _OfClass, names: Sequence[str], units: int, tests: Tests[Named], row: int
) -> ClassScores:
    methods = [named.label for named in tests.explanations]
    return ClassScores(
        target=names[int(of.target[row])],
        scores={name: tuple(map(_number_or_none, of.scores[name][row, :units].tolist())) for name in methods},
        metrics=_metrics(of, tests, row),
    )


def _metrics(of: _OfClass, tests: Tests[Named], row: int) -> tuple[MetricValue, ...]:
    """The values of one example, each with the mean over the random baselines."""
    methods = {named.label for named in tests.explanations}
    draws = {named.label for named in tests.baselines}
    by_chance: dict[tuple[str, str | None], list[Tensor]] = {}
    for (metric, explanation, reference), values in of.answers:
        if explanation in draws:
            by_chance.setdefault((metric.label, reference), []).append(values[row])
    found = []
    for (metric, explanation, reference), values in of.answers:
        if explanation is not None and (explanation not in methods or explanation == reference):
            continue
        drawn = by_chance.get((metric.label, reference))
        chance = torch.stack(drawn).nanmean(0) if drawn else torch.full_like(values[row], torch.nan)
        for measure, value, random in zip(
            metric.component.measures, values[row].tolist(), chance.tolist(), strict=True
        ):
            found.append(
                MetricValue(
                    method=explanation,
                    metric=metric.label,
                    measure=measure.name,
                    reference=reference,
                    direction=measure.direction,
                    value=_number_or_none(value),
                    random=_number_or_none(random),
                )
            )
    return tuple(found)


def _number_or_none(value: float) -> float | None:
    """JSON has neither NaN nor infinity: what is not finite is None."""
    return value if math.isfinite(value) else None
