"""F1 and the area under the ROC curve, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from attnx.formulas.classification import macro_f1, roc_auc


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("n", [1, 2, 10, 500])
def test_f1_is_that_of_scikit_learn(classes: int, n: int) -> None:
    random = np.random.default_rng(n * classes)
    for _ in range(20):
        labels, predicted = random.integers(0, classes, (2, n))
        expected = f1_score(labels, predicted, average="macro", zero_division=0)
        assert macro_f1(labels, predicted) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [2, 10, 500])
@pytest.mark.parametrize("ties", [False, True])
def test_the_area_is_that_of_scikit_learn(n: int, ties: bool) -> None:
    random = np.random.default_rng(n)
    for _ in range(20):
        labels = random.permutation(np.arange(n) % 2)
        scores = random.normal(size=n).astype(np.float32)
        scores = scores.round(0) if ties else scores
        assert roc_auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_by_hand() -> None:
    labels = np.array([0, 0, 1, 1])
    assert macro_f1(labels, np.array([0, 1, 1, 1])) == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert macro_f1(labels, np.array([2, 2, 2, 2])) == 0
    assert roc_auc(labels, np.array([0.1, 0.4, 0.4, 0.8])) == 3.5 / 4
    assert roc_auc(labels, np.zeros(4)) == 0.5
