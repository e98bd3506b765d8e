"""The laws of metrics, tested on the toy model."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeGuard

import torch
from torch import Tensor

from ..formulas.randomness import Randomness
from ..protocols import ImportanceMethod, JointMetric, Metric, Model, SplitMetric
from ..run.evaluation_mode import evaluating
from ..run.measuring.attribution import AgainExplaining, Named, trace_of
from ..run.measuring.metric_calls import answer_of, joint_answers
from ..types import Conclusion, Corpus, Evidence, Example, Importance, JointEvidence, Trace
from .laws import law, require
from .model_laws import close
from .toy import WORDS, MarkedToyModel, ToyModel, toy_data

SPLIT = 150  # examples
CPU = torch.device("cpu")


@contextmanager
def evidence_of(
    examples: Sequence[Example],
    explanation: str,
    device: torch.device = CPU,
    made_by: type[ToyModel] = ToyModel,
) -> Iterator[Evidence]:
    """Yield the evidence of one batch, explained by attention, by random scores or by zeros."""
    model = made_by().to(device)
    batch = model.encode(examples).to(device)
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
        again = AgainExplaining(Named(explanation, _AsMade(explanation)), 0)
        yield Evidence(trace, importance, reference, model, Randomness(0), again)


class _AsMade(ImportanceMethod):
    """Explains again as the law explained: by attention, by random scores or by zeros."""

    def __init__(self, explanation: str) -> None:
        self.explanation = explanation

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:  # noqa: ARG002
        if self.explanation == "attention":
            return trace.attention
        noise = Randomness(1).uniform(trace.batch, draws=2).float()[:, 0]
        values = noise if self.explanation == "random" else torch.zeros_like(trace.attention)
        return values.masked_fill(~trace.batch.mask, 0.0)


def values_of(
    metric: Metric,
    examples: Sequence[Example],
    explanation: str = "attention",
    device: torch.device = CPU,
    made_by: type[ToyModel] = ToyModel,
) -> Tensor:
    """Measure these examples: values [B, M] for one explanation."""
    with evidence_of(examples, explanation, device, made_by) as evidence:
        if is_joint_metric(metric):
            corpus = Corpus(torch.tensor([len(example.units) for example in examples]), toy_data().train)
            one = {explanation: evidence.explanation}
            joint = JointEvidence(evidence.trace, one, evidence.model, evidence.random, corpus)
            return joint_answers(Named("metric", metric), joint)[explanation]
        return answer_of(Named("metric", metric), evidence)[0]


def conclude(
    metric: SplitMetric,
    batches: Sequence[Sequence[Example]],
    explanation: str = "attention",
    device: torch.device = CPU,
    made_by: type[ToyModel] = ToyModel,
) -> Conclusion:
    """Measure a split that is given in these batches."""
    units = [len(example.units) for examples in batches for example in examples]
    corpus = Corpus(unit_counts=torch.tensor(units))
    parts = []
    for examples in batches:
        with evidence_of(examples, explanation, device, made_by) as evidence:
            parts.append(tuple(kept.cpu() for kept in metric.keep(evidence, corpus)))
    with torch.no_grad():
        return metric.conclude(tuple(torch.cat(kept) for kept in zip(*parts, strict=True)), corpus)


def toy_split() -> list[Example]:
    """Make enough toy sentences for a metric that measures a whole split."""
    rng = random.Random(0)
    return [
        Example(f"toy-{i}", tuple(rng.choices(WORDS[1:], k=n)), i % 2, rationale=(True,) + (False,) * (n - 1))
        for i, n in enumerate(rng.choices(range(2, 8), k=SPLIT))
    ]


def is_joint_metric(metric: Metric | JointMetric) -> TypeGuard[JointMetric]:
    """Whether a metric measures all explanations together."""
    return metric.joint


def is_split_metric(metric: Metric) -> TypeGuard[SplitMetric]:
    """Whether a metric measures a whole split."""
    return metric.whole_split


@law("metric")
def bounds(metric: Metric) -> None:
    """Values are within the declared bounds, or NaN."""
    for explanation in ("attention", "random", "zero"):
        if is_split_metric(metric):
            values = conclude(metric, [toy_split()], explanation).values[None]
        else:
            values = values_of(metric, toy_data().test, explanation)
        for column, measure in enumerate(metric.measures):
            v = values[:, column]
            low, high = measure.bounds
            inside = v.isnan() | ((v >= low - 1e-5) & (v <= high + 1e-5))
            require(bool(inside.all()), f"{measure.name} is {v[~inside].tolist()}, outside {measure.bounds}")


@law("metric")
def blind(metric: Metric) -> None:
    """A metric with reads_explanation = False gives the same values for every explanation."""
    if metric.reads_explanation:
        return
    if is_split_metric(metric):
        attention, other = (conclude(metric, [toy_split()], e).values for e in ("attention", "random"))
    else:
        attention, other = (values_of(metric, toy_data().test, e) for e in ("attention", "random"))
    require(
        close(attention.nan_to_num(-99), other.nan_to_num(-99)),
        "it declares reads_explanation = False, but another explanation gives other values",
    )


@law("metric")
def metric_batches(metric: Metric) -> None:
    """Values are independent of padding, order and batch composition."""
    if is_split_metric(metric):
        return
    examples = toy_data().test
    values = values_of(metric, examples).nan_to_num(-99)
    backwards = values_of(metric, examples[::-1]).nan_to_num(-99).flip(0)
    require(close(values, backwards), "a batch in reverse order gives other values")
    alone = torch.cat([values_of(metric, [example]) for example in examples]).nan_to_num(-99)
    require(close(values, alone), "an example alone gives another value than in a batch")


@law("metric")
def metric_special(metric: Metric) -> None:
    """Values are the same if the model has special columns, such as [CLS]."""
    for explanation in ("attention", "random"):
        if is_split_metric(metric):
            plain, marked = (
                conclude(metric, [toy_split()], explanation, made_by=model).values
                for model in (ToyModel, MarkedToyModel)
            )
        else:
            plain, marked = (
                values_of(metric, toy_data().test, explanation, made_by=model)
                for model in (ToyModel, MarkedToyModel)
            )
        require(
            close(plain.nan_to_num(-99), marked.nan_to_num(-99)),
            "a model with special columns gets other values",
        )


@law("metric")
def split_batches(metric: Metric) -> None:
    """The result for a split is independent of padding, order and batch composition."""
    if not is_split_metric(metric):
        return
    examples = toy_split()
    values = conclude(metric, [examples]).values.nan_to_num(-99)
    backwards = conclude(metric, [examples[::-1]]).values.nan_to_num(-99)
    require(close(values, backwards), "a split in reverse order gives other values")
    alone = conclude(metric, [[example] for example in examples]).values.nan_to_num(-99)
    require(close(values, alone), "a split in batches of one gives other values")


@law("metric")
def split_result(metric: Metric) -> None:
    """`conclude` returns one value per measure, and each curve has one value per point of its axis."""
    if not is_split_metric(metric):
        return
    result = conclude(metric, [toy_split()])
    found, expected = tuple(result.values.shape), (len(metric.measures),)
    require(found == expected, f"the values have shape {found}, not {expected}")
    for axis, line in result.curves:
        found, expected = tuple(line.shape), (len(axis.points),)
        require(found == expected, f"the curve '{axis.name}' has shape {found}, not {expected}")


@law("metric")
def undefined(metric: Metric) -> None:
    """An example without what the metric needs gets NaN, and the other examples still get values."""
    if is_split_metric(metric):
        values = conclude(metric, [toy_split()]).values
        require(not bool(values.isnan().all()), "the value of an ordinary split is undefined")
        return
    examples = toy_data().test
    values = values_of(metric, examples)
    known = [row for row, example in enumerate(examples) if example.rationale is not None]
    if "rationale" in metric.needs:
        unknown = [row for row in range(len(examples)) if row not in known]
        require(bool(values[unknown].isnan().all()), "an example without a rationale got a value")
    require(not bool(values[known].isnan().all()), "every example is undefined")


@law("metric")
def metric_curve(metric: Metric) -> None:
    """A metric returns a curve only if it declares an axis, with one column per point of the axis."""
    if is_split_metric(metric) or is_joint_metric(metric):
        return
    with evidence_of(toy_data().test, "attention") as evidence:
        answer_of(Named("metric", metric), evidence)
