"""Metric values, computed batch by batch over a split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product

import torch
from torch import Tensor

from ...formulas.erasure import remembering
from ...progress import Progress, Step
from ...protocols import JointMetric, Metric, Model, SplitMetric
from ...request.plan import Tests
from ...results.observations import AttributionCost, Measurement, Observation, Traits
from ...types import Batch, Corpus, Importance
from ..evaluation_mode import evaluating
from ..plugin_errors import errors_of
from .attribution import Named, trace_of
from .batch_answers import Pairing, answers_of_batch
from .explained_scores import Seen, explained_scores
from .freed_memory import give_back
from .output_checks import check_bounds, check_tensor, check_trace
from .partial_results import FilledTensor, PartialResults
from .pass_meter import metered, units_declared
from .score_keeper import ScoreKeeper
from .splits import Split, batches

# Measures all examples of a split, wherever that is done.
MeasureSplit = Callable[[Split, Tests[Named], ScoreKeeper | None, Step], PartialResults]


def observe(
    model: Model,
    split: Split,
    tests: Tests[Named],
    *,
    seed: int,
    progress: Progress,
    label: str,
    keeper: ScoreKeeper | None = None,
    title: str = "the model",
    measure_split: MeasureSplit | None = None,
) -> Observation:
    """Run a model over a split and measure everything; a keeper collects the scores.

    The work is done in this process, batch after batch, unless `measure_split` does it elsewhere.
    """
    with progress.stage(label, len(split)) as step:
        if measure_split:
            results = measure_split(split, tests, keeper, step)
        else:
            methods = (*tests.explanations, *tests.references, *tests.alternatives)
            units = units_declared(methods, pairings(tests), split.unit_counts.numpy().astype(float))
            with metered(model, split, units, step) as followed:
                results = measure(
                    model,
                    batches(split),
                    tests,
                    split.corpus,
                    followed,
                    seed=seed,
                    size=len(split),
                    keeper=keeper,
                    title=title,
                )
    return conclude(tests, results.put_in_order(), split)


def check_classes(model: Model, split: Split, label_names: Sequence[str], title: str) -> None:
    """Refuse a model whose number of classes is not the task's number of labels; one example is enough."""
    with evaluating(model):
        trace = trace_of(model, split.take(torch.tensor([0])))
    classes = len(label_names)
    of = f"a task of {classes} labels ({', '.join(label_names[:10])}{', ...' if classes > 10 else ''})"
    check_tensor(trace.logits, (1, classes), f"{title}, on {of}, returned logits")


def measure(
    model: Model,
    given: Iterable[tuple[Tensor, Batch]],
    tests: Tests[Named],
    corpus: Corpus,
    step: Step,
    *,
    seed: int,
    size: int,
    keeper: ScoreKeeper | None = None,
    title: str = "the model",
) -> PartialResults:
    """Measure some batches of `size` examples together, one after the other; only results stay in memory.

    The results of a batch depend on nothing but the batch and the corpus, so batches can be measured
    anywhere and in any order.
    """
    methods = {named.label: named for named in tests.methods}
    pairs = pairings(tests)
    scores_kept = keeper.empty_copy() if keeper else None
    costs = dict.fromkeys(methods, AttributionCost(0.0, 0, 0))
    traits = {name: FilledTensor(size) for name in methods}
    answers: list[list[FilledTensor]] = [[] for _ in pairs]
    on_cpu: set[str] = set()
    row_numbers, logits = FilledTensor(size), FilledTensor(size)
    with evaluating(model):
        for rows, batch in given:
            trace = trace_of(model, batch)
            check_trace(trace, model.provides, title)
            seen = Seen.of(model, trace, corpus.explained)
            with remembering(seen.model, batch) as deletions:
                importances: dict[str, Importance] = {}
                for name, method in methods.items():
                    scores = explained_scores(method, model, trace, seen, corpus.explained, seed)
                    importances[name] = scores
                    give_back(after=scores.seconds)
                deletions.recalls = True
                answered = answers_of_batch(pairs, model, trace, seen, seed, importances, corpus, methods)
                for (metric, *_), of_pair, (tensors, elsewhere) in zip(pairs, answers, answered, strict=True):
                    of_pair += [FilledTensor(size) for _ in tensors[len(of_pair) :]]
                    for filled, tensor in zip(of_pair, tensors, strict=True):
                        filled.add(tensor)
                    on_cpu |= {metric.label} if elsewhere else set()
                if scores_kept is not None:
                    scores_kept.add(model, trace, importances)
            for name, scores in importances.items():
                traits[name].add(_traits(scores, batch.mask))
                on_cpu |= {name} if scores.on_cpu else set()
                costs[name] = costs[name].plus(
                    scores.seconds, scores.passes, len(batch), len(batch) if scores.reused else 0
                )
            row_numbers.add(rows)
            logits.add(trace.logits.double().cpu())
            step(len(rows))
    return PartialResults(
        rows=row_numbers.rows,
        logits=logits.rows,
        answers=tuple(tuple(filled.rows for filled in of_pair) for of_pair in answers),
        traits={name: filled.rows for name, filled in traits.items()},
        costs=costs,
        on_cpu=frozenset(on_cpu),
        scores=None if scores_kept is None else scores_kept.collected(),
    )


def conclude(tests: Tests[Named], results: PartialResults, split: Split) -> Observation:
    """Turn the results of all examples, in their order, into an observation.

    Metrics of the whole split compute their values here, from what they kept of every example.
    """
    corpus = split.corpus
    return Observation(
        logits=results.logits.numpy(),
        labels=split.labels.numpy(),
        measurements=tuple(
            _measurement(pairing, tensors, corpus)
            for pairing, tensors in zip(pairings(tests), results.answers, strict=True)
        ),
        costs=results.costs,
        traits={name: _summed(values) for name, values in results.traits.items()},
        kept=results.scores,
        on_cpu=tuple(sorted(results.on_cpu)),
        unread=split.unread.numpy(),
    )


def _traits(scores: Importance, mask: Tensor) -> Tensor:
    """[B, 3] whether an example has a negative score, whether all are equal, whether signs are declared."""
    values = scores.values
    low = values.masked_fill(~mask, torch.inf).amin(1)
    high = values.masked_fill(~mask, -torch.inf).amax(1)
    declared = torch.full_like(low < 0, scores.signed)
    return torch.stack([low < 0, low == high, declared], dim=1).cpu()


def _summed(values: Tensor) -> Traits:
    signed, constant, declared = values.double().mean(0).tolist()
    return Traits(signed=signed > 0, constant=constant, declares_signs=declared > 0)


def pairings(tests: Tests[Named]) -> list[Pairing]:
    """Pair every metric with every explanation it reads, and with every reference if it compares.

    References are compared with each other too: that shows how much agreement can be expected.
    """
    references = [named.label for named in tests.references]
    pairs: list[Pairing] = []
    for metric in tests.metrics:
        tested = _tested(metric.component, tests)
        if "reference" not in metric.component.needs:
            pairs += [(metric, explanation, None) for explanation in tested]
            continue
        yardsticks = [pair for pair in combinations(references, 2) if not {*pair} & {*tested}]
        pairs += [(metric, *pair) for pair in [*product(tested, references), *yardsticks]]
    return pairs


def _tested(metric: Metric | SplitMetric | JointMetric, tests: Tests[Named]) -> Sequence[str | None]:
    """The explanations that a metric reads, or None for the model itself.

    A metric that replaces the model's attention is also given every baseline in its place.
    """
    baselines = [named.label for named in tests.baselines]
    explained = [named.label for named in tests.explanations]
    if metric.joint:  # it ranks everything that gives scores, and has random orders of its own
        ranked = [named.label for named in (*tests.references, *tests.alternatives)]
        return list(dict.fromkeys([*explained, *ranked]))
    if metric.reads_explanation:
        return list(dict.fromkeys([*explained, *baselines]))
    return [None, *baselines] if "reattend" in metric.needs else [None]


def _measurement(pairing: Pairing, tensors: tuple[Tensor, ...], corpus: Corpus) -> Measurement:
    """The values of a metric, from its tensors for all examples in their order."""
    named, explanation, reference = pairing
    metric: Metric | SplitMetric = named.component
    if metric.whole_split:
        title = named.title("metric")
        with errors_of(title):
            conclusion = metric.conclude(tensors, corpus)
        check_bounds(conclusion.values, metric.measures, title)
        values, curves = conclusion.values.double()[None], conclusion.curves
    else:
        values = tensors[0]
        curves = () if metric.axis is None else ((metric.axis, tensors[1].nanmean(0)),)
    return Measurement(
        metric=named.label,
        family=metric.family,
        sees=metric.sees,
        measures=metric.measures,
        explanation=explanation,
        reference=reference,
        whole_split=metric.whole_split,
        values=values.numpy(),
        curves=tuple((axis, line.double().numpy()) for axis, line in curves),
    )
