import torch
from captum import attr
from torch import Tensor

from attnx.formulas import Randomness, passes_at_once, similar_lengths
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import IntegratedGradientsOptions
from .output import Output, baseline_of, rows_per_pass, values_by_unit


class IntegratedGradients(ImportanceMethod):
    """Gradient averaged on the line from a baseline to the embeddings, times their difference.

    (X_i − B_i)·∫₀¹ ∂p(B + α(X − B))/∂X_i dα; over all units the values add up to p(X) − p(B).
    """

    needs = ("gradient",)

    def __init__(self, options: IntegratedGradientsOptions) -> None:
        self.options = options
        self.passes = 3 * options.steps  # there and back

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        values = torch.zeros_like(trace.embeddings[..., 0])  # [B, L]
        # As many rows as fill a pass with all their steps: of similar length, they are hardly padded.
        for rows in similar_lengths(trace.batch.lengths, passes_at_once(self.options.steps)):
            some = trace.take(rows)
            values[rows, : some.batch.mask.shape[1]] = self._attributed(model, some, target[rows])
        return values

    def _attributed(self, model: Model, trace: Trace, target: Tensor) -> Tensor:
        output = Output(model, trace, target, self.options.of)
        found = attr.IntegratedGradients(output).attribute(
            trace.embeddings.detach(),
            baselines=baseline_of(trace, self.options.baseline),
            additional_forward_args=output.rows,
            n_steps=self.options.steps,
            internal_batch_size=rows_per_pass(trace),
        )
        return values_by_unit(found, trace, self.options.absolute)
