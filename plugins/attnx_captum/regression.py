"""Linear models fitted to outputs, in double precision."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Regression = Literal["ridge", "lasso", "linear"]


def fitted_weights(present: Array, y: Array, counts: Array, kind: Regression, penalty: float) -> Array:
    """Return [n] the weights of n units in a linear model with an intercept of outputs y [S].

    Units are present [S, n], and each output counts [S] times. The ridge minimises the weighted sum of
    squared errors plus penalty·Σb², the lasso half its mean plus penalty·Σ|b|, as scikit-learn does.
    """
    if kind == "lasso":
        from sklearn.linear_model import Lasso

        weights: Array = Lasso(alpha=penalty).fit(present, y, sample_weight=counts).coef_
        return weights
    share = counts / counts.sum()
    x, y = present - share @ present, y - share @ y  # the intercept takes the means
    if kind == "ridge":
        gram = (x * counts[:, None]).T @ x + penalty * np.eye(x.shape[1])
        ridge: Array = np.linalg.solve(gram, x.T @ (counts * y))
        return ridge
    root = np.sqrt(counts)
    least: Array = np.linalg.lstsq(x * root[:, None], y * root, rcond=None)[0]
    return least
