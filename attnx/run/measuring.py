"""Metric values, streamed batch by batch over a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import torch
from torch import Tensor

from ..progress import Progress
from ..protocols import Metric, Model, SplitMetric
from ..report.observations import Cost, Measurement, Observation, Traits
from ..types import Corpus, Importance, Trace
from .answers import answer_of, attention_evidence
from .attribution import Named, attribute, trace_of
from .batching import Split, batches, evaluating
from .contracts import blamed, check_bounds, check_scores, check_trace
from .keeping import Keeper


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
    keeper: Keeper | None = None,
    title: str = "the model",
) -> Observation:
    """Run a model over a split, measure everything asked for, and let a keeper have the scores."""
    methods = {named.label: named for named in (*explanations, *baselines, *references)}
    corpus = Corpus(unit_counts=split.unit_counts)
    gatherers = [
        Gatherer(metric, explanation, reference, corpus)
        for metric, explanation, reference in pairings(explanations, references, metrics, baselines)
    ]
    costs = dict.fromkeys(methods, Cost(0.0, 0, len(split)))
    seen: dict[str, list[Tensor]] = {name: [] for name in methods}
    on_cpu: set[str] = set()
    rows_seen: list[Tensor] = []
    logits: list[Tensor] = []
    with evaluating(model), progress.stage(label, len(split)) as step:
        for rows, batch in batches(split):
            trace = trace_of(model, batch)
            check_trace(trace, model.provides, title)
            importances = {name: _scores(method, model, trace, seed) for name, method in methods.items()}
            for name, found in importances.items():
                seen[name].append(_traits(found.values, batch.mask))
                on_cpu |= {name} if found.on_cpu else set()
                costs[name] = costs[name].plus(found.seconds, found.passes)
            for gatherer in gatherers:
                gatherer.add(model, trace, importances, seed)
            if keeper is not None:
                keeper.add(model, trace, importances)
            rows_seen.append(rows)
            logits.append(trace.logits.double().cpu())
            step(len(rows))
    order = torch.cat(rows_seen).argsort()  # back to the order of the examples
    return Observation(
        logits=torch.cat(logits)[order].numpy(),
        labels=split.labels.numpy(),
        measurements=tuple(gatherer.conclude(order) for gatherer in gatherers),
        costs=costs,
        traits={name: _summed(parts) for name, parts in seen.items()},
        kept=None if keeper is None else keeper.conclude(order),
        on_cpu=tuple(sorted(on_cpu | {g.metric.label for g in gatherers if g.on_cpu})),
        unread=split.unread.numpy(),
    )


def _scores(method: Named, model: Model, trace: Trace, seed: int) -> Importance:
    """What an importance method says of a batch."""
    title = method.title("importance")
    with blamed(title):
        found = attribute(method, model, trace, trace.predicted, seed)
    check_scores(found.values, trace, title)
    return found


def _traits(values: Tensor, mask: Tensor) -> Tensor:
    """[B, 2] whether a score of an example is negative, and whether all its scores are the same."""
    low = values.masked_fill(~mask, torch.inf).amin(1)
    high = values.masked_fill(~mask, -torch.inf).amax(1)
    return torch.stack([low < 0, low == high], dim=1).double().cpu()


def _summed(parts: list[Tensor]) -> Traits:
    signed, constant = torch.cat(parts).mean(0).tolist()
    return Traits(signed=signed > 0, constant=constant)


def pairings(
    explanations: tuple[Named, ...],
    references: tuple[Named, ...],
    metrics: tuple[Named, ...],
    baselines: tuple[Named, ...],
) -> list[tuple[Named, str | None, str | None]]:
    """Every metric with every explanation it reads, and with every reference where it compares.

    References are compared with each other too: a yardstick for how much agreement there is to have.
    """
    compared = [named.label for named in references]
    found: list[tuple[Named, str | None, str | None]] = []
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


@dataclass
class Gatherer:
    """Collects what one metric says, or keeps, of one explanation batch by batch."""

    metric: Named
    explanation: str | None
    reference: str | None
    corpus: Corpus
    parts: list[tuple[Tensor, ...]] = field(default_factory=list)
    on_cpu: bool = False  # whether it computes there, though the model is elsewhere

    def add(self, model: Model, trace: Trace, importances: dict[str, Importance], seed: int) -> None:
        component: Metric | SplitMetric = self.metric.component
        if self.explanation is not None and not component.reads_explanation:
            trace = attending(model, trace, importances[self.explanation].values)
        evidence = attention_evidence(model, trace, seed)
        if self.explanation is not None:
            evidence = replace(evidence, explanation=importances[self.explanation])
        if self.reference is not None:
            evidence = replace(evidence, compared=importances[self.reference])
        asked = trace.logits.device
        title = self.metric.title("metric")
        with blamed(title):
            if component.whole_split:
                kept = component.keep(evidence, self.corpus)
                self.on_cpu = asked.type != "cpu"  # where it will conclude
            else:
                kept = tuple(part.double() for part in answer_of(self.metric, evidence) if part is not None)
                check_bounds(kept[0], component.measures, title)
                self.on_cpu = kept[0].device != asked
        self.parts.append(tuple(tensor.cpu() for tensor in kept))

    def conclude(self, order: Tensor) -> Measurement:
        """The measurement, with examples put back in order."""
        metric: Metric | SplitMetric = self.metric.component
        whole = tuple(torch.cat(tensors)[order] for tensors in zip(*self.parts, strict=True))
        self.parts.clear()
        if metric.whole_split:
            title = self.metric.title("metric")
            with blamed(title):
                conclusion = metric.conclude(whole, self.corpus)
            check_bounds(conclusion.values, metric.measures, title)
            values, curves = conclusion.values.double()[None], conclusion.curves
        else:
            values = whole[0]
            curves = () if metric.axis is None else ((metric.axis, whole[1].nanmean(0)),)
        return Measurement(
            metric=self.metric.label,
            family=metric.family,
            sees=metric.sees,
            measures=metric.measures,
            explanation=self.explanation,
            reference=self.reference,
            whole_split=metric.whole_split,
            values=values.numpy(),
            curves=tuple((axis, line.double().numpy()) for axis, line in curves),
        )


def attending(model: Model, trace: Trace, attention: Tensor) -> Trace:
    """What the model would have done with other attention [B, L]."""
    attention = attention.to(trace.attention)
    return replace(trace, attention=attention, logits=model.reattend(trace, attention))
