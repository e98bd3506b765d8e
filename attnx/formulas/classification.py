"""How well a model classifies: F1 and the area under the ROC curve, without scikit-learn.

Importing scikit-learn takes longer than all else that a small run does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def macro_f1(labels: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The mean of F1 = 2·TP / (2·TP + FP + FN) over all labels that occur or were predicted."""
    scores = []
    for label in np.union1d(labels, predicted):
        is_so, said = labels == label, predicted == label
        scores.append(2 * int((is_so & said).sum()) / int(is_so.sum() + said.sum()))
    return float(np.mean(scores))


def roc_auc(labels: NDArray[Any], scores: NDArray[Any]) -> float:
    """How often an example of the larger label has the higher score than one of the other; a tie is half.

    With the mean ranks r of the scores this is (Σ r − n₁(n₁ + 1)/2) / (n₁·n₀), summed over the n₁ examples
    of the larger label.
    """
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    larger = labels == labels.max()
    above, below = int(larger.sum()), int((~larger).sum())
    return float((ranks[larger].sum() - above * (above + 1) / 2) / (above * below))
