import torch
from captum import attr
from torch import Tensor

from attnx.formulas import Randomness, passes_at_once, similar_lengths
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import IntegratedGradientsOptions
from .output import Output, baseline_of, rows_per_pass, values_by_unit


class IntegratedGradients(ImportanceMethod):
    """Integrated gradients: gradients averaged from a baseline to the embeddings, times the difference.

    (X_i − B_i)·∫₀¹ ∂p(B + α(X − B))/∂X_i dα for unit i (a word, an image patch, ...) with embedding X_i
    and baseline B_i. Signed: positive scores support the class. Over all units the scores add up to p(X)
    − p(B). Costs one forward and one backward pass per step. If a ReLU is within rounding of 0 at a step,
    its gradient there depends on the processor, and so does the third digit of a score.
    """

    needs = ("gradient",)

    def __init__(self, options: IntegratedGradientsOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute
        self.passes = 3 * options.steps  # forward and backward

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        values = torch.zeros_like(trace.embeddings[..., 0])  # [B, L]
        # As many rows as fill a pass with all their steps; similar lengths need little padding.
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
