"""Where a number cannot mean what it seems: the warnings of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..types import TaskData
from .observations import SeedResult
from .report import Summary
from .statistics import paired_interval
from .wording import USELESS

Array = np.ndarray[Any, np.dtype[np.float64]]

FEW = 0.5  # share of examples with a value below which a mean speaks of survivors
MANY = 0.5  # share of examples, or of units, above which something is worth a warning


def useless_model(results: Sequence[SeedResult], data: TaskData) -> str:
    """Why the model is not worth explaining, if it is not shown to beat the best constant answer."""
    labels = results[0].observation.labels  # [N]
    correct = np.stack([r.observation.predicted == labels for r in results]).astype(float)  # [S, N]
    usual = int(np.bincount([e.label for e in data.train]).argmax())
    best = max((usual, int(np.bincount(labels).argmax())), key=lambda label: float((labels == label).mean()))
    constant = np.broadcast_to(labels == best, correct.shape).astype(float)
    gain = paired_interval(correct[:, :, None], constant[:, :, None])
    low, high = (float(np.clip(end[0], -1, 1)) for end in (gain.low, gain.high))
    if low > 0:
        return ""
    worse = high < 0
    order = f"; are its labels in the task's order, {', '.join(data.label_names[:9])}?" if worse else ""
    return (
        f"the model is {'worse' if worse else 'not shown to be better'} than always answering "
        f"'{data.label_names[best]}', the commonest of {'train' if best == usual else 'test'} (accuracy "
        f"{correct.mean():.3f} against {constant.mean():.3f}, difference {gain.mean[0]:+.3f} "
        f"[{low:.3f}, {high:.3f}]){order}"
    )


def cautions(
    results: Sequence[SeedResult],
    summaries: Sequence[Summary],
    data: TaskData,
    useless: str,
    provides: Sequence[str] = (),
) -> tuple[str, ...]:
    """What a reader of the report must know before he believes a number of a model that provides these."""
    return (
        *([f"{useless}: {USELESS}"] if useless else []),
        *_of_training(results),
        *_of_length(results, data),
        *_of_scores(results, summaries),
        *_of_survivors(summaries),
        *(() if "unseen-words" in provides else _of_units(data)),
    )


def _of_training(results: Sequence[SeedResult]) -> Iterable[str]:
    for result in results:
        if len(result.record.course) > 1 and result.record.best_epoch == 0:
            yield (
                f"seed {result.seed}: no epoch beat the untrained model on dev, so that is what was measured"
            )
    first = results[0].observation.logits
    if len(results) > 1 and all(np.array_equal(result.observation.logits, first) for result in results):
        yield (
            "all seeds gave the same model: it is one model counted several times, and tells nothing of "
            "other trainings; give one seed"
        )
    elif len(results) == 1 and len(results[0].record.course) <= 1:
        yield "one model as it was given: intervals cover other examples, not other trainings"
    elif len(results) == 1:
        yield (
            "one training seed: intervals cover other examples, not other trainings; give three or more, "
            "as --seeds 0-2"
        )
    elif len(results) == 2:
        yield (
            "two training seeds hardly tell how far trainings differ, and intervals are several times wider "
            "than those of three or more, as --seeds 0-2"
        )


def _of_length(results: Sequence[SeedResult], data: TaskData) -> Iterable[str]:
    """Texts that are longer than the model reads."""
    unread = results[0].observation.unread
    if unread is not None and unread.any():
        units = sum(len(example.units) for example in data.test)
        yield (
            f"{int((unread > 0).sum())} of {len(unread)} test examples are longer than the model reads: "
            f"{int(unread.sum())} of {units} units were cut off at their ends and have no score"
        )


def _of_scores(results: Sequence[SeedResult], summaries: Sequence[Summary]) -> Iterable[str]:
    """Signed scores ranked against unsigned ones, and scores that order nothing."""
    traits = results[0].observation.traits
    pairs = dict.fromkeys(
        (s.explanation, s.reference)
        for s in summaries
        if s.family == "agreement" and s.explanation and s.reference
    )
    for explanation, reference in pairs:
        signed, other = (traits[name].signed for name in (explanation, reference))
        if signed != other:
            which, plain = (explanation, reference) if signed else (reference, explanation)
            yield (
                f"'{which}' has negative scores and '{plain}' has none: their ranks answer different "
                "questions; compare absolute values where the method has that option"
            )
    asked = dict.fromkeys(s.explanation for s in summaries if s.explanation)
    for name in asked:
        share = float(np.mean([result.observation.traits[name].constant for result in results]))
        if share > MANY:
            yield f"'{name}' gives all units the same score in {share:.0%} of the examples: it orders nothing"


def _of_survivors(summaries: Sequence[Summary]) -> Iterable[str]:
    rows = [s for s in summaries if s.group == "all" and s.mean is not None]
    for s in rows:
        if s.n < FEW * (s.n + s.undefined):
            of = f" of '{s.explanation}'" if s.explanation else ""
            yield (
                f"{s.metric} {s.measure}{of} is a mean over the {s.n} of {s.n + s.undefined} examples that "
                "have a value"
            )


def _of_units(data: TaskData) -> Iterable[str]:
    if data.features is not None:
        return
    known = {unit for example in data.train for unit in example.units}
    units = [unit for example in data.test for unit in example.units]
    unknown = sum(unit not in known for unit in units) / max(1, len(units))
    if unknown > MANY:
        yield f"{unknown:.0%} of the test split's words never occur in train: the model cannot know them"
