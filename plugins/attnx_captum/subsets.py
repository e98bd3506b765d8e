from collections.abc import Callable

import torch
from captum import attr
from torch import Tensor

from attnx import Model, Trace

from .options import SubsetOptions
from .output import COLUMNS, Output, baseline_of, values_by_unit
from .presence import OneExample, Presence, example_seeds, seeded


def fitted_weights(
    make: Callable[[OneExample], attr.Lime],
    model: Model,
    trace: Trace,
    target: Tensor,
    options: SubsetOptions,
) -> Tensor:
    """[B, L] the weights of the linear model that Captum fits to each example, one by one."""
    output = Output(model, trace, target, options.of)
    presence = Presence(output, trace, baseline_of(trace, options.baseline))
    values = torch.zeros_like(trace.attention)  # [B, L]
    for row, seed in enumerate(example_seeds(trace.batch, options.seed)):
        example = OneExample(presence, row)
        units = len(example.columns)
        if units == 1:  # nothing to fit: the unit accounts for the whole change
            both = example(torch.eye(2, 1, device=values.device))  # with it, without it
            values[row, example.columns] = (both[0] - both[1]).to(values)
        if units > 1:
            with seeded(seed):
                weights = make(example).attribute(
                    example.everything,
                    n_samples=max(options.samples, 2 * units + 2),
                    perturbations_per_eval=max(1, COLUMNS // example.length),
                    return_input_shape=False,
                )
            values[row, example.columns] = weights.flatten().to(values)
    return values_by_unit(values, trace, options.absolute)
