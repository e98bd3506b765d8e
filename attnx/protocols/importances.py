"""What an importance method must have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from torch import Tensor

from ..host.cards import TargetUse
from ..types import Example, Passes, Trace
from .models import Model

if TYPE_CHECKING:
    from ..formulas.randomness import Randomness


class ImportanceMethod(Protocol):
    """An explanation: a score for every unit of an example.

    Attributes:
        needs: what the model must provide, e.g. "gradient".
        passes: about how many passes through the model one explanation takes; expensive methods are run on
            a sample of long examples.
        target_use: how scores depend on the explained class: "ignored" if they are the same for every class,
            "linear" if they are linear in the output for the class, so that the scores of a difference of two
            classes are the difference of their scores, else "read".
        signed: whether scores have signs: a unit with a negative score speaks against the class.
        computed: False for scores that are only read, such as those of a file: another input, class or model
            does not change them, so metrics that explain again are undefined.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    passes: Passes = 0
    target_use: TargetUse = "read"
    signed: bool = False
    computed: ClassVar[bool] = True

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness, /) -> Tensor:
        """Score every unit of a batch.

        Args:
            model: the model.
            trace: its forward pass on the batch.
            target: the class whose probability is explained [B].
            random: random numbers that belong to the examples, not to their place in the batch.

        Returns:
            The scores [B, L], 0 outside the mask.
        """
        ...

    def check(self, examples: Sequence[Example]) -> None:
        """Refuse, before any training, examples that the method cannot explain.

        Args:
            examples: the examples that will be explained.

        Raises:
            DataError: an example cannot be explained.
        """
        return
