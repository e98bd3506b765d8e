"""One example explained: the prediction, and the scores that every method gives its units."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..protocols import Model
from ..results.explanation import TOP, Explanation, RemovedUnit
from ..types import Example
from .evaluation_mode import evaluating
from .global_state import standard_state
from .measuring.attribution import Named, attribute, trace_of
from .measuring.score_keeper import by_unit, probabilities_without


@standard_state()
def explain_example(
    model: Model,
    example: Example,
    methods: Sequence[Named],
    *,
    seed: int,
    label_names: Sequence[str],
    labelled: bool,
    deletes: bool,
    device: torch.device,
    title: str,
    unknown: tuple[str, ...] = (),
) -> Explanation:
    """The prediction, the scores of every method, and the effect of removing their top units."""
    with evaluating(model):
        trace = trace_of(model, model.encode([example]).to(device))
        scores = {
            named.label: by_unit(attribute(named, model, trace, trace.predicted, seed).values, trace.batch)[0]
            for named in methods
        }
        read = by_unit(trace.batch.mask.float(), trace.batch)[0] > 0  # [n]
        tops = {
            name: values.nan_to_num(-torch.inf).masked_fill(~read, -torch.inf).argsort(descending=True)
            for name, values in scores.items()
        }
        count = min(TOP, int(read.sum()))
        tried = list(dict.fromkeys(unit for order in tops.values() for unit in order[:count].tolist()))
        without = (
            probabilities_without(model, trace, torch.tensor([tried]))[0].tolist()
            if deletes and tried
            else []
        )
        probabilities = trace.logits.cpu().double().softmax(-1)[0].tolist()
    predicted = int(trace.predicted[0])
    left_out = [
        RemovedUnit(
            position=unit,
            unit=example.units[unit],
            probability=None if p != p else p,
            change=None if p != p else p - probabilities[predicted],
            top_of=tuple(name for name, order in tops.items() if unit in order[:count].tolist()),
        )
        for unit, p in zip(tried, without, strict=False)
    ]
    return Explanation(
        title=title,
        id=example.id,
        units=example.units,
        query=example.query,
        label=label_names[example.label] if labelled else None,
        seed=seed,
        predicted=label_names[predicted],
        probabilities=dict(zip(label_names, probabilities, strict=True)),
        scores={
            name: tuple(value if torch.isfinite(torch.tensor(value)) else None for value in values.tolist())
            for name, values in scores.items()
        },
        left_out=tuple(sorted(left_out, key=lambda out: -abs(out.change or 0.0))),
        unknown=unknown,
        unit="word" if example.rows is None else "unit",
    )
