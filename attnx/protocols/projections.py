"""What a projection must have."""

from __future__ import annotations

from typing import ClassVar, Protocol

from torch import Tensor


class AttentionProjection(Protocol):
    """A function from scores to attention: weights that are not negative and sum to 1 over the mask.

    A projection that has parameters, or behaves differently in training, is an `nn.Module`.

    Attributes:
        trains_by_expectation: whether the training loss is the expected loss over attending to single units.
    """

    trains_by_expectation: ClassVar[bool] = False

    def __call__(self, scores: Tensor, mask: Tensor, /) -> Tensor:
        """Turn scores into attention.

        Args:
            scores: the scores [B, L].
            mask: which positions may be attended to [B, L].

        Returns:
            Attention [B, L], exactly 0 outside the mask; zeros in a row whose mask is empty.
        """
        ...
