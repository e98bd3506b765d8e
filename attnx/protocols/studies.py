"""What a study must have."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from ..types import Finding

if TYPE_CHECKING:
    from ..run.lab import Lab


class Study(Protocol):
    """A question about a task and a model that takes several trained models to answer.

    Attributes:
        needs: what the model must provide.
    """

    needs: ClassVar[tuple[str, ...]] = ()

    def __call__(self, lab: Lab, /) -> list[Finding]:
        """Carry out the study.

        Args:
            lab: trains and measures models.

        Returns:
            The findings, in the order in which they are shown.
        """
        ...
