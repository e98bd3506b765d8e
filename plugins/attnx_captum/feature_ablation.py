import torch
from torch import Tensor

from attnx.formulas import Randomness, at_once
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import BaselineOptions
from .output import Output, baseline_of, values_by_unit
from .presence import Presence


class FeatureAblation(ImportanceMethod):
    """Change of the output when a unit's embedding is replaced by a baseline.

    p(X) − p(X with B_i for X_i) for unit i (a word, an image patch, ...), where X_i is its embedding and
    B_i the baseline. Signed: positive scores support the class. Costs one forward pass per unit, less for
    LSTMs.
    """

    passes = "units"

    def __init__(self, options: BaselineOptions) -> None:
        self.options = options
        self.target_use = options.target_use
        self.signed = not options.absolute

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        output = Output(model, trace, target, self.options.of)
        presence = Presence(output, trace, baseline_of(trace, self.options.baseline))
        rows, columns = trace.batch.mask.nonzero(as_tuple=True)
        values = output.explained(trace.logits, output.rows)[:, None].expand(trace.batch.mask.shape).clone()
        every = torch.arange(values.shape[1], device=columns.device)
        for some in torch.arange(len(rows), device=rows.device).split(at_once(values.shape[1])):
            absent = columns[some, None] == every  # [R, L]
            values[rows[some], columns[some]] -= presence(rows[some], absent)
        return values_by_unit(values, trace, self.options.absolute)
