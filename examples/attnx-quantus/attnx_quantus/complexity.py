import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnx.plugin import Evidence, Measure, Metric

from .options import QuantusOptions

BOUNDS = {"Sparseness": (0, 1), "Complexity": (0, float("inf")), "EffectiveComplexity": (0, float("inf"))}


class QuantusComplexity(Metric):
    """How few units an explanation is about, as Quantus computes it.

    Sparseness is the Gini index of the absolute scores, Complexity their entropy in nats, and
    EffectiveComplexity the number of scores above a threshold. Each text is given to Quantus alone, with its
    own units and no padding. Scores that are all 0 have no value.
    """

    family = "shape"
    sees = "scores"

    def __init__(self, options: QuantusOptions) -> None:
        self.name = options.metric
        easier = "up" if self.name == "Sparseness" else "down"
        self.measures = (Measure(self.name, "none", BOUNDS[self.name], easier=easier),)

    def __call__(self, evidence: Evidence) -> Tensor:
        values, mask = evidence.explanation.values, evidence.trace.batch.mask  # [B, L]
        compute = quantus_metric(self.name)
        found = [compute(row[used].cpu().numpy()) for row, used in zip(values, mask, strict=True)]
        return torch.tensor(found, dtype=values.dtype, device=values.device)  # [B]


def quantus_metric(name: str) -> Callable[[np.ndarray[Any, Any]], float]:
    """A function from the scores of one text to the value of a metric of Quantus."""
    import quantus  # takes seconds

    metric = getattr(quantus, name)(disable_warnings=True)

    def compute(scores: np.ndarray[Any, Any]) -> float:
        if not np.any(scores):
            return float("nan")
        one = scores.astype(float)[None, None]  # [1, 1, L], as a picture of one channel and one line
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (value,) = metric(model=None, x_batch=one, y_batch=np.array([0]), a_batch=one, softmax=False)
        return float(value)

    return compute
