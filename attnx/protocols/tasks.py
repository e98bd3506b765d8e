"""What a task must have."""

from __future__ import annotations

from typing import ClassVar, Protocol

from ..data.loading import Source
from ..data.word_spans import find_in_order
from ..errors import PluginError
from ..types import TaskData


class Task(Protocol):
    """Labelled examples made of units: words, image patches, points.

    Attributes:
        needs: what a model must provide, e.g. "reads-query" if the answer depends on a question.
        provides: what the examples have, e.g. "words" or "rationale".
        dataset: the entry of the registry that the task reads; empty if it reads none.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    provides: ClassVar[tuple[str, ...]] = ()
    dataset: ClassVar[str] = ""

    def load(self, source: Source) -> TaskData:
        """Load all examples.

        Args:
            source: where files come from; a task opens no others.

        Returns:
            The examples in three splits.

        Raises:
            DataError: a file is missing or cannot be read.
        """
        ...

    def sample(self) -> TaskData:
        """Make a few dozen examples of the same kind without any file, for the conformance tests.

        Returns:
            The examples in three splits.
        """
        raise PluginError("a task must define 'sample' to be checked")

    def units_of(self, text: str) -> tuple[str, ...]:
        """Split a text that a user gives into units, for a task whose units are words.

        Args:
            text: the text.

        Returns:
            Its units.
        """
        return tuple(text.split())

    def spans_of(self, text: str) -> tuple[tuple[int, int], ...]:
        """Find the units of a text in its characters.

        Args:
            text: the text.

        Returns:
            For every unit the place of its first character, and that after its last.
        """
        return find_in_order(self.units_of(text), text)
