import torch
from captum import attr
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import BaselineOptions
from .output import Output, baseline_of, rows_per_pass, values_by_unit
from .presence import Presence


class FeatureAblation(ImportanceMethod):
    """Change of the output when a unit's embedding is replaced by a baseline.

    p(X) − p(X with B_i for X_i) for unit i (a word, an image patch, ...), where X_i is its embedding and
    B_i the baseline. Signed: positive scores support the class. Costs one forward pass per unit.
    """

    passes = "units"

    def __init__(self, options: BaselineOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        output = Output(model, trace, target, self.options.of)
        presence = Presence(output, trace, baseline_of(trace, self.options.baseline))
        found = attr.FeatureAblation(presence).attribute(
            torch.ones_like(trace.attention),  # [B, L], every column a feature
            additional_forward_args=output.rows,
            perturbations_per_eval=rows_per_pass(trace) // len(trace.batch),
        )
        return values_by_unit(found, trace, self.options.absolute)
