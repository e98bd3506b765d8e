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
MOST_TEXTS = 10  # times the texts at hand: more are not worth asking for


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
    low, gain, high = _gain(correct, constant)
    if low > 0:
        return None
    worse = high < 0
    name = data.label_names[best]
    return UselessModel(
        name,
        f"the model is {'significantly worse' if worse else 'not significantly better'} than always "
        f"predicting '{name}', the most frequent test label (accuracy {correct.mean():.3f} vs. "
        f"{constant.mean():.3f}, difference {gain:+.3f} [{low:.3f}, {high:.3f}]). "
        f"Next: {_next_step(results, data, correct, constant, worse)}",
    )


def _gain(correct: Labels, constant: Labels) -> tuple[float, float, float]:
    """How much more accurate a model [S, N] is than a constant answer, between the ends of its interval."""
    gain = paired_interval(correct[:, :, None], constant[:, :, None])
    low, high = (float(np.clip(end[0], -1, 1)) for end in (gain.low, gain.high))
    return low, float(gain.mean[0]), high


def _next_step(
    results: Sequence[SeedResult], data: TaskData, correct: Labels, constant: Labels, worse: bool
) -> str:
    """What a person can do so that there is a verdict."""
    if worse:
        return f"check that the model's labels are in the task's order: {', '.join(data.label_names[:9])}"
    trained = all(result.record.course for result in results)
    longer = "train longer (--train epochs=N) or on more texts"
    failed = [
        result.seed
        for result, ones in zip(results, correct, strict=True)
        if _gain(ones[None], constant[:1])[0] <= 0
    ]
    if not failed:
        return "more training runs (e.g. --seeds 0-4): each of these beats it, but they differ"
    if trained and len(failed) < len(results):
        seeds = f"seed {failed[0]}" if len(failed) == 1 else f"seeds {', '.join(map(str, failed))}"
        return f"{seeds} did not learn, the other {len(results) - len(failed)} did; {longer}"
    low, gain, _ = _gain(correct.mean(0, keepdims=True), constant[:1])
    texts = correct.shape[1]
    if gain > 0:
        if low > 0:
            return "more training runs (e.g. --seeds 0-4): the mean of these beats it"
        needed = texts * ((gain - low) / gain) ** 2  # an interval narrows with the root of its texts
        if needed < MOST_TEXTS * texts:
            more = f"about {np.floor(needed / 10 + 1) * 10:.0f} test texts instead of {texts}"
            return f"{more} would show that it is better, if it is"
    if trained:
        return longer
    return "bring a model that solves the task, or check that its labels are the task's"
