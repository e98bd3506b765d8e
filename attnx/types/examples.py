"""The examples of a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..data.access import Source


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled example made of units.

    Attributes:
        id: a name that no other example of the task has.
        units: its words, or names of its other units.
        label: the index of its label in `TaskData.label_names`.
        query: the words of its question, if the task has questions.
        rationale: for every unit whether it is known to matter, if that is known.
        rows: for every unit its row of `TaskData.features`, if units are not words.
        spares: rows of `TaskData.features` without information about the label, which can replace a unit.
        text: the text as its file has it, if the task was loaded with raw texts.
        starts: for every unit the place of its first character in `text`.
        query_text: the question as its file has it.
        partner: the other text of a minimal pair, which differs in the words that decide.
    """

    id: str
    units: tuple[str, ...]
    label: int
    query: tuple[str, ...] | None = None
    rationale: tuple[bool, ...] | None = None
    rows: tuple[int, ...] | None = None
    spares: tuple[int, ...] | None = None
    text: str | None = field(default=None, repr=False)
    starts: tuple[int, ...] | None = field(default=None, repr=False)
    query_text: str | None = field(default=None, repr=False)
    partner: Example | None = field(default=None, repr=False)

    def keep(self, places: Sequence[int]) -> Example:
        """Make the example with only some of its units.

        Args:
            places: the places of the units that stay, in ascending order.

        Returns:
            The shorter example; it has no `text`, of which these units are no longer all.
        """
        return replace(
            self,
            units=tuple(self.units[place] for place in places),
            rationale=None if self.rationale is None else tuple(self.rationale[place] for place in places),
            rows=None if self.rows is None else tuple(self.rows[place] for place in places),
            text=None,
            starts=None,
        )


@dataclass(frozen=True, slots=True)
class TaskData:
    """The examples of a task in three splits, and where they come from.

    Attributes:
        train: the examples that models are trained on.
        dev: the examples that choose the best epoch.
        test: the examples that everything is measured on.
        label_names: the labels; `Example.label` is an index of these.
        features: what units are made of if they are not words [R, ...]; `Example.rows` has their rows.
        oracle: the scores of a perfect explanation by row [R], if they are known.
        min_count: words that occur less often in train than this are unknown to models.
        provenance: where the data comes from, in words.
        divided: whether the examples came undivided; then a trained model is tested on all of them.
        notices: what a reader of the report must know about the data, one sentence each.
        fingerprint: a hash of everything; filled in when the data is loaded.
        training_fingerprint: a hash of what training depends on; filled in when the data is loaded.
        source: where a model finds further files, such as word vectors; filled in when the data is loaded.
        contrasts: other versions of test examples, by name and id: e.g. "without" the words that decide.
    """

    train: tuple[Example, ...]
    dev: tuple[Example, ...]
    test: tuple[Example, ...]
    label_names: tuple[str, ...]
    features: np.ndarray[Any, Any] | None = None  # [R, ...]
    oracle: np.ndarray[Any, Any] | None = None  # [R]
    min_count: int = 1
    provenance: Mapping[str, str] = field(default_factory=dict)
    divided: bool = False
    notices: tuple[str, ...] = ()
    fingerprint: str = ""
    training_fingerprint: str = ""
    source: Source | None = None
    contrasts: Mapping[str, Mapping[str, Example]] = field(default_factory=dict)
