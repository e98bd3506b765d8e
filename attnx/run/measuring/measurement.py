"""Metric values, streamed batch by batch over a split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import torch
from torch import Tensor

from ...formulas.erasure import remembering
from ...progress import Progress, Step
from ...protocols import Metric, Model, SplitMetric
from ...results.observations import AttributionCost, Measurement, Observation, Traits
from ...types import Batch, Corpus, Evidence, Importance, Trace
from ..evaluation_mode import evaluating
from ..plugin_errors import errors_of
from .attribution import Named, attribute, trace_of
from .metric_calls import answer_of, attention_evidence
from .output_checks import check_bounds, check_scores, check_tensor, check_trace
from .partial_results import PartialResults
from .score_keeper import ScoreKeeper
from .splits import Split, batches

Pairing = tuple[
    Named, str | None, str | None
]  # a metric, the explanation it reads, the reference it compares with


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is measured of a model, and what is kept of the scores."""

    explanations: tuple[Named, ...]
    references: tuple[Named, ...]
    metrics: tuple[Named, ...]
    baselines: tuple[Named, ...]
    seed: int
    keeper: ScoreKeeper | None = None
    title: str = "the model"

    @property
    def methods(self) -> dict[str, Named]:
        """The importance methods, by label."""
        return {named.label: named for named in (*self.explanations, *self.baselines, *self.references)}

    @property
    def pairings(self) -> list[Pairing]:
        return pairings(self.explanations, self.references, self.metrics, self.baselines)


Measurer = Callable[[Model, Split, Wanted, Step], PartialResults]  # whoever looks at all examples of a split


def observe(
    model: Model,
    split: Split,
    *,
    explanations: tuple[Named, ...],
    references: tuple[Named, ...],
    metrics: tuple[Named, ...],
    baselines: tuple[Named, ...] = (),
    seed: int,
    progress: Progress,
    label: str,
    keeper: ScoreKeeper | None = None,
    title: str = "the model",
    measurer: Measurer | None = None,
) -> Observation:
    """Run a model over a split, measure everything asked for, and let a keeper have the scores."""
    wanted = Wanted(explanations, references, metrics, baselines, seed, keeper, title)
    with progress.stage(label, len(split)) as step:
        seen = (measurer or measure_here)(model, split, wanted, step)
    return conclude(wanted, seen.in_order(), split)


def check_classes(model: Model, split: Split, label_names: Sequence[str], title: str) -> None:
    """Refuse a model of fewer or more classes than the task has labels, by what it says of one example."""
    with evaluating(model):
        trace = trace_of(model, split.take(torch.tensor([0])))
    classes = len(label_names)
    of = f"a task of {classes} labels ({', '.join(label_names[:10])}{', ...' if classes > 10 else ''})"
    check_tensor(trace.logits, (1, classes), f"{title}, on {of}, gave logits")


def measure_here(model: Model, split: Split, wanted: Wanted, step: Step) -> PartialResults:
    """All examples of a split, in this process."""
    return measure(model, batches(split), wanted, Corpus(unit_counts=split.unit_counts), step)


def measure(
    model: Model, given: Iterable[tuple[Tensor, Batch]], wanted: Wanted, corpus: Corpus, step: Step
) -> PartialResults:
    """Look at some batches of a split, one after the other; what is kept of a batch is all that stays.

    What is said of a batch depends on nothing but the batch and the corpus, so that batches can be
    looked at anywhere and in any order.
    """
    methods, found = wanted.methods, wanted.pairings
    keeper = wanted.keeper.anew() if wanted.keeper else None
    costs = dict.fromkeys(methods, AttributionCost(0.0, 0, 0))
    traits: dict[str, list[Tensor]] = {name: [] for name in methods}
    said: list[list[tuple[Tensor, ...]]] = [[] for _ in found]
    on_cpu: set[str] = set()
    rows_seen: list[Tensor] = []
    logits: list[Tensor] = []
    with evaluating(model):
        for rows, batch in given:
            trace = trace_of(model, batch)
            check_trace(trace, model.provides, wanted.title)
            with remembering(model, batch) as known:
                importances = {
                    name: _scores(method, model, trace, wanted.seed) for name, method in methods.items()
                }
                known.recalls = True
                for (metric, explanation, reference), of in zip(found, said, strict=True):
                    evidence = _evidence(
                        model, trace, wanted.seed, metric, explanation, reference, importances
                    )
                    tensors, elsewhere = _said(metric, evidence, corpus)
                    of.append(tensors)
                    on_cpu |= {metric.label} if elsewhere else set()
                if keeper is not None:
                    keeper.add(model, trace, importances)
            for name, scores in importances.items():
                traits[name].append(_traits(scores.values, batch.mask))
                on_cpu |= {name} if scores.on_cpu else set()
                costs[name] = costs[name].plus(scores.seconds, scores.passes, len(batch))
            rows_seen.append(rows)
            logits.append(trace.logits.double().cpu())
            step(len(rows))
    return PartialResults(
        rows=torch.cat(rows_seen),
        logits=torch.cat(logits),
        said=tuple(tuple(torch.cat(tensors) for tensors in zip(*of, strict=True)) for of in said),
        traits={name: torch.cat(parts) for name, parts in traits.items()},
        costs=costs,
        on_cpu=frozenset(on_cpu),
        kept=None if keeper is None else keeper.gathered(),
    )


def conclude(wanted: Wanted, seen: PartialResults, split: Split) -> Observation:
    """From all examples in their order to an observation; whole-split metrics conclude from what was kept."""
    corpus = Corpus(unit_counts=split.unit_counts)
    return Observation(
        logits=seen.logits.numpy(),
        labels=split.labels.numpy(),
        measurements=tuple(
            _measurement(pairing, said, corpus)
            for pairing, said in zip(wanted.pairings, seen.said, strict=True)
        ),
        costs=seen.costs,
        traits={name: _summed(values) for name, values in seen.traits.items()},
        kept=seen.kept,
        on_cpu=tuple(sorted(seen.on_cpu)),
        unread=split.unread.numpy(),
    )


def _scores(method: Named, model: Model, trace: Trace, seed: int) -> Importance:
    """What an importance method says of a batch."""
    title = method.title("importance")
    with errors_of(title):
        found = attribute(method, model, trace, trace.predicted, seed)
    check_scores(found.values, trace, title)
    return found


def _traits(values: Tensor, mask: Tensor) -> Tensor:
    """[B, 2] whether a score of an example is negative, and whether all its scores are the same."""
    low = values.masked_fill(~mask, torch.inf).amin(1)
    high = values.masked_fill(~mask, -torch.inf).amax(1)
    return torch.stack([low < 0, low == high], dim=1).double().cpu()


def _summed(values: Tensor) -> Traits:
    signed, constant = values.mean(0).tolist()
    return Traits(signed=signed > 0, constant=constant)


def pairings(
    explanations: tuple[Named, ...],
    references: tuple[Named, ...],
    metrics: tuple[Named, ...],
    baselines: tuple[Named, ...],
) -> list[Pairing]:
    """Every metric with every explanation it reads, and with every reference where it compares.

    References are compared with each other too: a yardstick for how much agreement there is to have.
    """
    compared = [named.label for named in references]
    found: list[Pairing] = []
    for metric in metrics:
        tested = _tested(metric.component, explanations, baselines)
        if "reference" not in metric.component.needs:
            found += [(metric, explanation, None) for explanation in tested]
            continue
        yardsticks = [pair for pair in combinations(compared, 2) if not {*pair} & {*tested}]
        found += [(metric, *pair) for pair in [*product(tested, compared), *yardsticks]]
    return found


def _tested(
    metric: Metric | SplitMetric, explanations: tuple[Named, ...], baselines: tuple[Named, ...]
) -> Sequence[str | None]:
    """The explanations that a metric reads, or None for the model itself.

    One that tests the model's attention tests the baselines in its place too.
    """
    in_its_place = [named.label for named in baselines]
    if metric.reads_explanation:
        return list(dict.fromkeys([*(named.label for named in explanations), *in_its_place]))
    return [None, *in_its_place] if "reattend" in metric.needs else [None]


def _evidence(
    model: Model,
    trace: Trace,
    seed: int,
    metric: Named,
    explanation: str | None,
    reference: str | None,
    importances: Mapping[str, Importance],
) -> Evidence:
    """What a metric is shown of one explanation, or of the model with other scores as its attention."""
    if explanation is not None and not metric.component.reads_explanation:
        trace = attending(model, trace, importances[explanation].values)
    evidence = attention_evidence(model, trace, seed)
    if explanation is not None:
        evidence = replace(evidence, explanation=importances[explanation])
    if reference is not None:
        evidence = replace(evidence, compared=importances[reference])
    return evidence


def _said(metric: Named, evidence: Evidence, corpus: Corpus) -> tuple[tuple[Tensor, ...], bool]:
    """What a metric says or keeps of a batch, and whether it computes elsewhere than it was asked to."""
    component: Metric | SplitMetric = metric.component
    asked = evidence.trace.logits.device
    title = metric.title("metric")
    with errors_of(title):
        if component.whole_split:
            kept = component.keep(evidence, corpus)
            elsewhere = asked.type != "cpu"  # where it will conclude
        else:
            kept = tuple(part.double() for part in answer_of(metric, evidence) if part is not None)
            check_bounds(kept[0], component.measures, title)
            elsewhere = kept[0].device != asked
    return tuple(tensor.cpu() for tensor in kept), elsewhere


def _measurement(pairing: Pairing, said: tuple[Tensor, ...], corpus: Corpus) -> Measurement:
    """The values of a metric, from what it said or kept of all examples in their order."""
    named, explanation, reference = pairing
    metric: Metric | SplitMetric = named.component
    if metric.whole_split:
        title = named.title("metric")
        with errors_of(title):
            conclusion = metric.conclude(said, corpus)
        check_bounds(conclusion.values, metric.measures, title)
        values, curves = conclusion.values.double()[None], conclusion.curves
    else:
        values = said[0]
        curves = () if metric.axis is None else ((metric.axis, said[1].nanmean(0)),)
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


def attending(model: Model, trace: Trace, attention: Tensor) -> Trace:
    """What the model would have done with other attention [B, L]."""
    attention = attention.to(trace.attention)
    return replace(trace, attention=attention, logits=model.reattend(trace, attention))
