import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .options import SoftErasureOptions
from .soft_masks import NO_SUPPORT, mean_falls


class SoftComprehensiveness(Metric):
    """How far the output falls if units lose part of their embedding in proportion to their scores.

    mean(max(0, p − p″)) / max(0, p − p(0)), cut to 0..1: p is the probability of the predicted class, p(0)
    that with all embeddings 0, and p″ that if every coordinate of the embedding of unit i (a word, an image
    patch, ...) is set to 0 with probability q_i. q is proportional to the scores above 0, at most 1, and sums
    to a fixed share of the units; the mean is over shares and draws. At a fixed share an explanation with
    larger scores removes no more than another. Undefined if p − p(0) < .01.
    """

    needs = ("gradient",)
    family = "erasure"
    sees = "units"
    cost = "one forward pass per share and draw, 12 by default, and one with all embeddings 0"
    cannot = (
        "what deleting whole units does: the model was not trained on dimmed embeddings, and 0 may mean "
        "something to the model"
    )
    measures = (Measure("soft-comprehensiveness", "up", (0, 1)),)

    def __init__(self, options: SoftErasureOptions) -> None:
        self.options = options
        self.passes = 1 + options.draws * len(options.retained)

    def __call__(self, evidence: Evidence) -> Tensor:
        falls, whole = mean_falls(evidence, self.options, keep_top=False)
        return (falls / whole.masked_fill(whole < NO_SUPPORT, torch.nan)).clamp(0, 1)
