"""Whether a model uses the trigger, and in which texts it alone decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .report import FEWEST, FOLLOWS, LOST, TriggerCheck

Array = np.ndarray[Any, np.dtype[Any]]


def check_of(
    trigger: int, seed: int, labels: Array, own_labels: Array, answers: Mapping[str, Array], swapped: Array
) -> tuple[TriggerCheck, Array]:
    """The check of one model, and [N] the texts in which the trigger alone is known to decide.

    `answers` has the predicted classes [N] with the trigger ("with") and for every contrast; `swapped` [N]
    are the labels of the swapped trigger. The trigger decides in a text if the model answers as it says,
    answers as the other trigger says once that is in its place, and answers something else without it, and
    with only one of its two words.
    """
    follows = answers["with"] == labels
    turned = answers["swapped"] == swapped
    kept = {
        name: found == labels for name, found in answers.items() if name not in ("with", "swapped")
    }  # [N] each: the same answer although something is missing
    counted = follows & turned & ~np.any(list(kept.values()), axis=0)
    alone = tuple(float(kept[name].mean()) for name in ("first alone", "second alone") if name in kept)
    without = float(kept["without"].mean())
    enough = min(follows.mean(), turned.mean()) >= FOLLOWS and max(without, *alone, 0.0) <= LOST
    check = TriggerCheck(
        trigger=trigger,
        seed=seed,
        texts=len(labels),
        own_accuracy=float((answers["without"] == own_labels).mean()),
        followed=float(follows.mean()),
        swapped=float(turned.mean()),
        without=without,
        alone=alone,
        counted=int(counted.sum()),
        verified=bool(enough and counted.sum() >= FEWEST),
    )
    return check, counted
