"""The best constant answer, and whether a model beats it: only then is it worth explaining."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...types import TaskData
from ..caution import Caution
from ..observations import SeedResult
from ..statistics import paired_interval

Labels = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class UselessModel:
    """A model that is not significantly better than always predicting one label."""

    label: str  # that is predicted always
    text: str

    @property
    def caution(self) -> Caution:
        """The same as a warning of the report."""
        return Caution(kind="not-better-than-constant", about=(self.label,), text=f"No verdict: {self.text}")


def most_frequent_label(data: TaskData, labels: Labels) -> int:
    """The most frequent label of the test split [N]; of equally frequent ones, train's own if it is one."""
    counts = np.bincount(labels, minlength=len(data.label_names))
    if not data.train:
        return int(counts.argmax())
    in_train = int(np.bincount([example.label for example in data.train]).argmax())
    return in_train if counts[in_train] == counts.max() else int(counts.argmax())


def useless_model(results: Sequence[SeedResult], data: TaskData) -> UselessModel | None:
    """Why there is no verdict on this model; None where it beats the best constant answer."""
    labels = results[0].observation.labels  # [N]
    correct = np.stack([r.observation.predicted == labels for r in results]).astype(float)  # [S, N]
    best = most_frequent_label(data, labels)
    constant = np.broadcast_to(labels == best, correct.shape).astype(float)
    gain = paired_interval(correct[:, :, None], constant[:, :, None])
    low, high = (float(np.clip(end[0], -1, 1)) for end in (gain.low, gain.high))
    if low > 0:
        return None
    worse = high < 0
    name = data.label_names[best]
    order = f"; check that its labels are in the task's order: {', '.join(data.label_names[:9])}"
    return UselessModel(
        name,
        f"the model is {'significantly worse' if worse else 'not significantly better'} than always "
        f"predicting '{name}', the most frequent test label (accuracy {correct.mean():.3f} vs. "
        f"{constant.mean():.3f}, difference {gain.mean[0]:+.3f} [{low:.3f}, {high:.3f}])"
        f"{order if worse else ''}",
    )
