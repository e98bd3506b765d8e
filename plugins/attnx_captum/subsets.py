from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from captum import attr
from captum._utils.models.model import Model as Regression
from torch import Tensor

from attnx.formulas import Randomness, passes_at_once
from attnx.plugin import Model, Trace

from .options import SubsetOptions
from .output import Output, baseline_of, values_by_unit
from .presence import OneExample, Presence


@dataclass(frozen=True, slots=True)
class Subsets:
    """Subsets of the n units of an example, and how much each counts in the regression."""

    present: Tensor  # [S, n] 1 where the unit is there
    weights: Tensor  # [S]


# From numbers in [0, 1), one for every subset and unit [S, n] and one for every subset [S].
Draw = Callable[[Tensor, Tensor], Subsets]


def fitted_weights(
    draw: Draw,
    regression: Callable[[], Regression],
    model: Model,
    trace: Trace,
    target: Tensor,
    random: Randomness,
    options: SubsetOptions,
) -> Tensor:
    """Return [B, L] the weights of a linear model of the output, fitted by Captum for each example.

    The draws depend on the example only; Captum's own would depend on all earlier draws.
    """
    output = Output(model, trace, target, options.of)
    presence = Presence(output, trace, baseline_of(trace, options.baseline))
    values = torch.zeros_like(trace.attention)  # [B, L]
    for row in range(len(trace.batch)):
        example = OneExample(presence, row)
        if len(example.columns) == 1:  # nothing to fit: the unit causes the whole change
            with_it, without_it = example(torch.eye(2, 1, device=values.device))
            values[row, example.columns] = (with_it - without_it).to(values)
        elif len(example.columns) > 1:
            subsets = _drawn(draw, example, random, options)
            values[row, example.columns] = _fitted(regression(), example, subsets).to(values)
    return values_by_unit(values, trace, options.absolute)


def _drawn(draw: Draw, example: OneExample, random: Randomness, options: SubsetOptions) -> Subsets:
    size = max(options.samples, 2 * len(example.columns) + 2)
    own = random.to(f"seed {options.seed}")
    u = own.uniform(example.batch, 2 * size)[0][:, example.columns]  # [2S, n]
    return draw(u[:size], u[size:, 0])


def _fitted(regression: Regression, example: OneExample, subsets: Subsets) -> Tensor:
    """[n] the weights of the units."""
    present, weights = iter(subsets.present.split(1)), iter(subsets.weights.split(1))
    lime = attr.LimeBase(
        example,
        regression,
        similarity_func=lambda *_, **__: next(weights),
        perturb_func=lambda *_, **__: next(present),
        perturb_interpretable_space=True,
        from_interp_rep_transform=lambda subset, *_, **__: subset,
        to_interp_rep_transform=None,
    )
    with torch.random.fork_rng(devices=[]):  # the loader of Captum's regression takes a random number
        fitted: Tensor = lime.attribute(
            torch.ones_like(subsets.present[:1]),
            n_samples=len(subsets.present),
            perturbations_per_eval=passes_at_once(example.batch.mask.shape[1]),
        )
    return fitted.flatten()
