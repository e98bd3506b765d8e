"""Traces, importances and metric values, streamed batch by batch over a split."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .batching import batches, evaluating
from .errors import PluginError
from .progress import Progress
from .protocols import ImportanceMethod, Metric, Model, SplitMetric
from .randomness import Randomness
from .types import Axis, Batch, Corpus, Evidence, Importance, Measure, Trace

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Named:
    """A component with the label it has in the report."""

    label: str
    component: Any


@dataclass(frozen=True, slots=True)
class Measurement:
    """The values of one metric for one explanation, or for the model itself."""

    metric: str
    measures: tuple[Measure, ...]
    explanation: str | None  # None: of the model, whatever is said of it
    reference: str | None
    values: Array  # [N, M] one row per example, or [1, M] for the whole split; NaN where undefined
    curves: tuple[tuple[Axis, Array], ...]  # of the split


@dataclass(frozen=True, slots=True)
class Cost:
    """What the importances of a split cost."""

    seconds: float
    passes: int  # examples sent through the model


@dataclass(frozen=True, slots=True)
class Observation:
    """What one model did on a split, in the order of its examples."""

    logits: Array  # [N, C]
    labels: Array  # [N]
    measurements: tuple[Measurement, ...]
    costs: dict[str, Cost]  # by importance method

    @property
    def predicted(self) -> Array:
        return self.logits.argmax(1)


def observe(
    model: Model,
    encoded: Batch,
    *,
    explanations: tuple[Named, ...],
    references: tuple[Named, ...],
    metrics: tuple[Named, ...],
    baselines: tuple[Named, ...] = (),
    seed: int,
    progress: Progress,
    label: str,
) -> Observation:
    """Run a model over a split and measure everything asked for."""
    methods = {named.label: named for named in (*explanations, *baselines, *references)}
    corpus = Corpus(unit_counts=encoded.mask.sum(1).cpu())
    gatherers = [
        Gatherer(metric, explanation, reference, corpus)
        for metric, explanation, reference in pairings(explanations, references, metrics, baselines)
    ]
    costs = dict.fromkeys(methods, Cost(0.0, 0))
    rows_seen: list[Tensor] = []
    logits: list[Tensor] = []
    with evaluating(model), progress.stage(label, len(encoded)) as step:
        for rows, batch in batches(encoded):
            trace = trace_of(model, batch)
            importances = {
                name: attribute(method, model, trace, trace.predicted) for name, method in methods.items()
            }
            for name, found in importances.items():
                costs[name] = Cost(costs[name].seconds + found.seconds, costs[name].passes + found.passes)
            for gatherer in gatherers:
                gatherer.add(model, trace, importances, seed)
            rows_seen.append(rows)
            logits.append(trace.logits.double().cpu())
            step(len(rows))
    order = torch.cat(rows_seen).argsort().cpu()  # back to the order of the examples
    return Observation(
        logits=torch.cat(logits)[order].numpy(),
        labels=encoded.labels.cpu().numpy(),
        measurements=tuple(gatherer.conclude(order) for gatherer in gatherers),
        costs=costs,
    )


def trace_of(model: Model, batch: Batch) -> Trace:
    """One forward pass."""
    return model.run(batch, model.embed(batch))


def attribute(named: Named, model: Model, trace: Trace, target: Tensor) -> Importance:
    """The scores of one importance method, with gradients on only where it declares the need."""
    method: ImportanceMethod = named.component
    counted: Any = _Counted(model)
    started = time.perf_counter()
    with torch.set_grad_enabled("gradient" in method.needs):
        values = method(counted, trace, target).detach()
    seconds = time.perf_counter() - started
    if values.shape != trace.attention.shape:
        raise PluginError(
            f"importance '{named.label}' gave values of shape {tuple(values.shape)}, "
            f"not {tuple(trace.attention.shape)}"
        )
    values = values.masked_fill(~trace.batch.mask, 0.0)
    return Importance(named.label, values, target, seconds, counted.passes)


class _Counted:
    """A model that counts the examples sent through it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.passes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def run(self, batch: Batch, embeddings: Tensor, **settings: Any) -> Trace:
        self.passes += len(embeddings)
        return self._model.run(batch, embeddings, **settings)

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        self.passes += len(hidden)
        return self._model.decode(batch, hidden)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        self.passes += attention[..., 0].numel()
        return self._model.reattend(trace, attention)

    def influence(self, trace: Trace) -> Tensor:
        self.passes += len(trace.batch)
        return self._model.influence(trace)  # type: ignore[attr-defined]

    def without_each(self, trace: Trace) -> Tensor:
        self.passes += int(trace.batch.mask.sum())
        return self._model.without_each(trace)  # type: ignore[attr-defined]


def values_of(named: Named, evidence: Evidence) -> Tensor:
    """The values of a metric as [B, M], whatever number of measures it has."""
    return _as_table(named, named.component(evidence), evidence)


def _as_table(named: Named, values: Tensor, evidence: Evidence) -> Tensor:
    """Values [B], or [B, M], as [B, M]; undefined where a score that was read is not finite."""
    metric: Metric = named.component
    values, expected = values.detach(), (len(evidence.trace.batch), len(metric.measures))
    if values.shape not in (expected, expected[:1]) or (values.ndim == 1 and expected[1] != 1):
        raise PluginError(
            f"metric '{named.label}' gave values of shape {tuple(values.shape)}, not {expected}"
        )
    return values.reshape(expected).masked_fill(_without_order(metric, evidence)[:, None], torch.nan)


def _without_order(metric: Metric, evidence: Evidence) -> Tensor:
    """[B] True where the explanation or the reference is not finite, and so has no order."""
    read = [evidence.explanation] if metric.reads_explanation else []
    read += [evidence.reference] if evidence.reference is not None else []
    nothing = torch.zeros_like(evidence.trace.batch.lengths, dtype=torch.bool)
    return sum((~importance.values.isfinite().all(1) for importance in read), nothing)


def pairings(
    explanations: tuple[Named, ...],
    references: tuple[Named, ...],
    metrics: tuple[Named, ...],
    baselines: tuple[Named, ...],
) -> list[tuple[Named, str | None, str | None]]:
    """Every metric with every explanation it reads, and with every reference where it compares."""
    compared = [named.label for named in references]
    return [
        (metric, explanation, reference)
        for metric in metrics
        for explanation in _tested(metric.component, explanations, baselines)
        for reference in (compared if "reference" in metric.component.needs else [None])
    ]


def _tested(
    metric: Metric, explanations: tuple[Named, ...], baselines: tuple[Named, ...]
) -> Sequence[str | None]:
    """The explanations that a metric reads, or None for the model itself.

    One that tests the model's attention tests the baselines in its place too.
    """
    in_its_place = [named.label for named in baselines]
    if metric.reads_explanation:
        return list(dict.fromkeys([*(named.label for named in explanations), *in_its_place]))
    return [None, *in_its_place] if "attention" in metric.needs else [None]


@dataclass
class Gatherer:
    """Collects what one metric says, or keeps, of one explanation batch by batch."""

    metric: Named
    explanation: str | None
    reference: str | None
    corpus: Corpus
    parts: list[tuple[Tensor, ...]] = field(default_factory=list)

    def add(self, model: Model, trace: Trace, importances: dict[str, Importance], seed: int) -> None:
        component = self.metric.component
        if self.explanation is not None and not component.reads_explanation:
            trace = attending(model, trace, importances[self.explanation].values)
        evidence = attention_evidence(model, trace, seed)
        if self.explanation is not None:
            evidence = replace(evidence, explanation=importances[self.explanation])
        if self.reference is not None:
            evidence = replace(evidence, reference=importances[self.reference])
        if component.whole_split:
            self.parts.append(tuple(tensor.cpu() for tensor in component.keep(evidence, self.corpus)))
            return
        if component.axis is None:
            self.parts.append((values_of(self.metric, evidence).double().cpu(),))
            return
        values, curve = component.with_curve(evidence)
        values = _as_table(self.metric, values, evidence)
        curve = curve.masked_fill(_without_order(component, evidence)[:, None], torch.nan)
        self.parts.append((values.double().cpu(), curve.double().cpu()))

    def conclude(self, order: Tensor) -> Measurement:
        """The measurement, with examples put back in order."""
        metric: Metric = self.metric.component
        whole = tuple(torch.cat(tensors)[order] for tensors in zip(*self.parts, strict=True))
        self.parts.clear()
        if metric.whole_split:
            split_metric: SplitMetric = self.metric.component
            conclusion = split_metric.conclude(whole, self.corpus)
            values, curves = conclusion.values.double()[None], conclusion.curves
        else:
            values = whole[0]
            curves = () if metric.axis is None else ((metric.axis, whole[1].nanmean(0)),)
        return Measurement(
            metric=self.metric.label,
            measures=metric.measures,
            explanation=self.explanation,
            reference=self.reference,
            values=values.numpy(),
            curves=tuple((axis, line.double().numpy()) for axis, line in curves),
        )


def attention_evidence(model: Model, trace: Trace, seed: int) -> Evidence:
    """Evidence about attention itself."""
    importance = Importance("attention", trace.attention, trace.predicted)
    return Evidence(trace, importance, None, model, Randomness(seed))


def attending(model: Model, trace: Trace, attention: Tensor) -> Trace:
    """What the model would have done with other attention [B, L]."""
    attention = attention.to(trace.attention)
    return replace(trace, attention=attention, logits=model.reattend(trace, attention))
