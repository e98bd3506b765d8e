"""The examples of a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..data.access import Source


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled example made of units."""

    id: str
    units: tuple[str, ...]
    label: int
    query: tuple[str, ...] | None = None
    rationale: tuple[bool, ...] | None = None  # one per unit
    rows: tuple[int, ...] | None = None  # one per unit: its row of TaskData.features
    spares: tuple[int, ...] | None = None  # rows that say nothing of the label, to put in a unit's place
    # Of a task that was loaded with its raw texts, for a model that reads them:
    text: str | None = field(default=None, repr=False)  # as its file has it
    starts: tuple[int, ...] | None = field(default=None, repr=False)  # one per unit: where it is in the text
    query_text: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class TaskData:
    """The examples of a task in three splits, and where they came from."""

    train: tuple[Example, ...]
    dev: tuple[Example, ...]
    test: tuple[Example, ...]
    label_names: tuple[str, ...]
    features: np.ndarray[Any, Any] | None = None  # [R, ...] what units are made of, when not words
    oracle: np.ndarray[Any, Any] | None = None  # [R] scores of a perfect focus, when one is known
    min_count: int = 1  # words rarer than this in train are not worth knowing
    provenance: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()  # what a reader of the report must know about how the data was made
    fingerprint: str = ""  # filled in when the data is loaded
    training_fingerprint: str = ""  # likewise: of what training sees of it
    source: Source | None = None  # likewise: where a model finds further files, such as word vectors
