"""How well a model classifies: accuracy, F1 and the area under the ROC curve, in numpy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def accuracy(labels: Array, predicted: Array) -> float:
    """The share of examples whose label was predicted."""
    return float((labels == predicted).mean())


def macro_f1(labels: Array, predicted: Array) -> float:
    """The mean over classes of 2·TP / (2·TP + FP + FN); classes that nothing has or gets do not count."""
    classes = np.union1d(labels, predicted)
    right = np.array([np.sum((labels == c) & (predicted == c)) for c in classes])
    either = np.array([np.sum(labels == c) + np.sum(predicted == c) for c in classes])
    return float((2 * right / either).mean())


def roc_auc(positive: Array, scores: Array) -> float:
    """The share of pairs of a positive and a negative example whose scores are in that order; ties are half.

    `positive` [N] says which examples are positive; there must be some of either kind.
    """
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]  # from 1; equal scores share the mean of theirs
    above = int(positive.sum())
    below = len(positive) - above
    return float((ranks[positive].sum() - above * (above + 1) / 2) / (above * below))
