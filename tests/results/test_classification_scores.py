"""Scores of classification against those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from attnx.results.classification_scores import accuracy, macro_f1, roc_auc


@pytest.mark.parametrize(("classes", "count"), [(2, 5), (2, 400), (3, 7), (20, 300)])
def test_accuracy_and_f1_are_those_of_scikit_learn(classes: int, count: int) -> None:
    random = np.random.default_rng(classes * count)
    labels, predicted = random.integers(classes, size=(2, count))
    assert accuracy(labels, predicted) == pytest.approx(accuracy_score(labels, predicted), rel=1e-12)
    theirs = f1_score(labels, predicted, average="macro", zero_division=0)
    assert macro_f1(labels, predicted) == pytest.approx(theirs, rel=1e-12)


def test_a_class_that_is_only_predicted_lowers_f1() -> None:
    labels, predicted = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])
    theirs = f1_score(labels, predicted, average="macro", zero_division=0)
    assert macro_f1(labels, predicted) == pytest.approx(theirs)
    assert theirs == pytest.approx((1 + 2 / 3 + 0) / 3)


@pytest.mark.parametrize("levels", [2, 5, 10_000])
def test_area_under_the_roc_curve_is_that_of_scikit_learn_with_and_without_ties(levels: int) -> None:
    random = np.random.default_rng(levels)
    labels = random.integers(2, size=300)
    scores = random.integers(levels, size=300) + labels * levels / 4
    assert roc_auc(labels == 1, scores) == pytest.approx(roc_auc_score(labels, scores), rel=1e-12)


def test_area_under_the_roc_curve_of_perfect_reversed_and_constant_scores() -> None:
    positive = np.array([False, True, False, True])
    scores = np.where(positive, 1.0, -1.0)
    assert roc_auc(positive, scores) == 1
    assert roc_auc(positive, -scores) == 0
    assert roc_auc(positive, np.zeros(4)) == 0.5
