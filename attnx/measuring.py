"""Traces, importances and metric values, streamed batch by batch over a split."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .batching import batches, evaluating
from .errors import PluginError
from .progress import Progress
from .protocols import ImportanceMethod, Metric, Model
from .randomness import Randomness
from .types import Axis, Batch, Evidence, Importance, Measure, Trace

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Named:
    """A component with the label it has in the report."""

    label: str
    component: Any


@dataclass(frozen=True, slots=True)
class Measurement:
    """The values of one metric for one explanation, one per example and measure."""

    metric: str
    measures: tuple[Measure, ...]
    explanation: str
    reference: str | None
    values: Array  # [N, M], NaN where undefined
    axis: Axis | None
    curve: Array | None  # [len(axis.points)] mean over the examples where it is defined


@dataclass(frozen=True, slots=True)
class Observation:
    """What one model did on a split, in the order of its examples."""

    logits: Array  # [N, C]
    labels: Array  # [N]
    measurements: tuple[Measurement, ...]
    seconds: dict[str, float]  # by importance method

    @property
    def predicted(self) -> Array:
        return self.logits.argmax(1)


def trace_of(model: Model, batch: Batch) -> Trace:
    """One forward pass."""
    return model.run(batch, model.embed(batch))


def attribute(named: Named, model: Model, trace: Trace, target: Tensor) -> Importance:
    """The scores of one importance method, with gradients on only where it declares the need."""
    method: ImportanceMethod = named.component
    started = time.perf_counter()
    with torch.set_grad_enabled("gradient" in method.needs):
        values = method(model, trace, target).detach()
    if values.shape != trace.attention.shape:
        raise PluginError(
            f"importance '{named.label}' gave values of shape {tuple(values.shape)}, "
            f"not {tuple(trace.attention.shape)}"
        )
    values = values.masked_fill(~trace.batch.mask, 0.0)
    return Importance(named.label, values, target, time.perf_counter() - started)


def values_of(named: Named, evidence: Evidence) -> Tensor:
    """The values of a metric as [B, M], whatever number of measures it has."""
    metric: Metric = named.component
    values = metric(evidence).detach()
    expected = (len(evidence.trace.batch), len(metric.measures))
    if values.shape not in (expected, expected[:1]) or (values.ndim == 1 and expected[1] != 1):
        raise PluginError(
            f"metric '{named.label}' gave values of shape {tuple(values.shape)}, not {expected}"
        )
    return values.reshape(expected)


def observe(
    model: Model,
    encoded: Batch,
    *,
    explanations: tuple[Named, ...],
    references: tuple[Named, ...],
    metrics: tuple[Named, ...],
    seed: int,
    progress: Progress,
    label: str,
) -> Observation:
    """Run a model over a split and measure everything asked for."""
    total = len(encoded)
    methods = {named.label: named for named in (*explanations, *references)}
    seconds = dict.fromkeys(methods, 0.0)
    rows_seen: list[Tensor] = []
    logits: list[Tensor] = []
    collected: dict[tuple[str, str, str | None], list[Tensor]] = {}
    curves: dict[tuple[str, str, str | None], list[Tensor]] = {}
    with evaluating(model), progress.stage(label, total) as step:
        for rows, batch in batches(encoded):
            trace = trace_of(model, batch)
            importances = {
                name: attribute(method, model, trace, trace.predicted) for name, method in methods.items()
            }
            for name, importance in importances.items():
                seconds[name] += importance.seconds
            for metric, explanation, reference in pairings(explanations, references, metrics):
                evidence = Evidence(
                    trace=trace,
                    explanation=importances[explanation],
                    reference=importances[reference] if reference else None,
                    model=model,
                    random=Randomness(seed),
                )
                key = (metric.label, explanation, reference)
                collected.setdefault(key, []).append(values_of(metric, evidence).double().cpu())
                if metric.component.axis is not None:
                    curves.setdefault(key, []).append(metric.component.curve(evidence).double().cpu())
            rows_seen.append(rows)
            logits.append(trace.logits.double().cpu())
            step(len(rows))
    back = torch.cat(rows_seen).argsort().cpu()
    by_label = {named.label: named.component for named in metrics}
    return Observation(
        logits=torch.cat(logits)[back].numpy(),
        labels=encoded.labels.cpu().numpy(),
        measurements=tuple(
            Measurement(
                metric=metric,
                measures=by_label[metric].measures,
                explanation=explanation,
                reference=reference,
                values=torch.cat(parts)[back].numpy(),
                axis=by_label[metric].axis,
                curve=_mean(curves.get((metric, explanation, reference))),
            )
            for (metric, explanation, reference), parts in collected.items()
        ),
        seconds=seconds,
    )


def pairings(
    explanations: tuple[Named, ...], references: tuple[Named, ...], metrics: tuple[Named, ...]
) -> list[tuple[Named, str, str | None]]:
    """Every metric with every explanation, and with every reference where it compares."""
    pairs: list[tuple[Named, str, str | None]] = []
    for metric in metrics:
        for explanation in explanations:
            if "reference" in metric.component.needs:
                pairs += [(metric, explanation.label, r.label) for r in references]
            else:
                pairs.append((metric, explanation.label, None))
    return pairs


def _mean(parts: list[Tensor] | None) -> Array | None:
    return None if parts is None else torch.cat(parts).nanmean(0).numpy()


def attention_evidence(model: Model, trace: Trace, seed: int) -> Evidence:
    """Evidence about attention itself, as metrics that follow training see it."""
    importance = Importance("attention", trace.attention, trace.predicted)
    return Evidence(trace, importance, None, model, Randomness(seed))
