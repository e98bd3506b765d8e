"""What a metric must do, judged on the toy model."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..batching import evaluating
from ..measuring import Named, trace_of, values_of
from ..protocols import Metric
from ..randomness import Randomness
from ..types import Evidence, Example, Importance
from .laws import law, require
from .model_laws import close
from .toy import ToyModel, toy_data


def _measure(metric: Metric, examples: Sequence[Example], explanation: str = "attention") -> Tensor:
    """[B, M] values for these examples, with attention or another explanation."""
    model = ToyModel()
    batch = model.encode(examples)
    with evaluating(model):
        trace = trace_of(model, batch)
        noise = Randomness(1).uniform(batch, draws=2).float().masked_fill(~batch.mask[:, None], 0.0)
        values = {
            "attention": trace.attention,
            "random": noise[:, 0],
            "zero": torch.zeros_like(trace.attention),
        }[explanation]
        reference = Importance("reference", noise[:, 1], trace.predicted)
        importance = Importance(explanation, values, trace.predicted)
        evidence = Evidence(trace, importance, reference, model, Randomness(0))
        return values_of(Named("metric", metric), evidence)


@law("metric", "values are within the declared bounds, or NaN")
def bounds(metric: Metric) -> None:
    for explanation in ("attention", "random", "zero"):
        values = _measure(metric, toy_data().test, explanation)
        for column, measure in enumerate(metric.measures):
            v = values[:, column]
            low, high = measure.bounds
            inside = v.isnan() | ((v >= low - 1e-5) & (v <= high + 1e-5))
            require(bool(inside.all()), f"{measure.name} is {v[~inside].tolist()}, outside {measure.bounds}")


@law("metric", "padding, order and company never change a value")
def metric_company(metric: Metric) -> None:
    examples = toy_data().test
    values = _measure(metric, examples).nan_to_num(-99)
    backwards = _measure(metric, examples[::-1]).nan_to_num(-99).flip(0)
    require(close(values, backwards), "a batch in reverse order gives other values")
    alone = torch.cat([_measure(metric, [example]) for example in examples]).nan_to_num(-99)
    require(close(values, alone), "an example alone gives another value than in a batch")


@law("metric", "an example that lacks what the metric needs is NaN, and no other is because of it")
def undefined(metric: Metric) -> None:
    examples = toy_data().test
    values = _measure(metric, examples)
    known = [row for row, example in enumerate(examples) if example.rationale is not None]
    if "rationale" in metric.needs:
        unknown = [row for row in range(len(examples)) if row not in known]
        require(bool(values[unknown].isnan().all()), "an example without a rationale got a value")
    require(not bool(values[known].isnan().all()), "every example is undefined")


@law("metric", "a curve has one column per point of its axis")
def metric_curve(metric: Metric) -> None:
    if metric.axis is None:
        return
    model = ToyModel()
    batch = model.encode(toy_data().test)
    with evaluating(model):
        trace = trace_of(model, batch)
        importance = Importance("attention", trace.attention, trace.predicted)
        curve = metric.curve(Evidence(trace, importance, importance, model, Randomness(0)))
    expected = (len(batch), len(metric.axis.points))
    require(tuple(curve.shape) == expected, f"the curve has shape {tuple(curve.shape)}, not {expected}")
