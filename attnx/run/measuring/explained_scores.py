"""The scores of importance methods for the class, or the contrast of two classes, that is explained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor

from ...protocols import Model
from ...types import ExplainedClass, Importance, Trace
from ..plugin_errors import errors_of
from .attribution import Named, attribute
from .contrast import Contrast, contrast_of
from .output_checks import check_scores


@dataclass(frozen=True, slots=True)
class Seen:
    """What tests of an explanation see: a model, a forward pass of it, and the class that is explained."""

    model: Model
    trace: Trace
    target: Tensor  # [B]

    @classmethod
    def of(cls, model: Model, trace: Trace, explained: ExplainedClass) -> Seen:
        """The model itself, or, for a contrast, the model as one that decides between the two classes."""
        if explained.versus is None:
            return cls(model, trace, explained.of(trace))
        assert isinstance(explained.target, int), "a contrast is between two named classes"
        view = contrast_of(model, explained.target, explained.versus)
        return cls(view, cast("Contrast", view).seen(trace), torch.zeros_like(trace.predicted))


def scores_of(method: Named, model: Model, trace: Trace, target: Tensor, seed: int) -> Importance:
    """The scores of an importance method for the classes `target` [B] of a batch, checked."""
    title = method.title("importance")
    with errors_of(title):
        scores = attribute(method, model, trace, target, seed)
    check_scores(scores.values, trace, title)
    return scores


def explained_scores(
    method: Named, model: Model, trace: Trace, seen: Seen, explained: ExplainedClass, seed: int
) -> Importance:
    """The scores of a method for what is explained.

    Of a contrast: the difference of the scores of both classes for a method that is linear in the output;
    the scores of the contrast's own output for one that is not; for one that ignores the class its scores as
    they are.
    """
    versus = explained.versus
    if versus is None:
        return scores_of(method, model, trace, seen.target, seed)
    if method.component.target_use == "read":
        return scores_of(method, seen.model, seen.trace, seen.target, seed)
    target = explained.of(trace)
    scores = scores_of(method, model, trace, target, seed)
    if method.component.target_use == "linear":
        other = scores_of(method, model, trace, torch.full_like(target, versus), seed)
        scores = replace(
            scores,
            values=scores.values - other.values,
            seconds=scores.seconds + other.seconds,
            passes=scores.passes + other.passes,
        )
    return replace(scores, target=seen.target)
