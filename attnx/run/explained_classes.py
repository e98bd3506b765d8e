"""Which class is explained: the predicted one, a named one, all of them, or one in contrast to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from ..errors import UsageError, did_you_mean
from ..types import Trace
from .measuring.attribution import Named

PREDICTED: Final = "predicted"  # targets that are not the name of a class
ALL: Final = "all"
SHOWN = 20  # classes that an error lists


@dataclass(frozen=True, slots=True)
class ExplainedClass:
    """The class whose output is explained, and the class that it is contrasted with.

    The scores of a contrast are those of the target minus those of the other class. They are the scores of
    the difference of the two outputs, p(target) − p(versus), or of the difference of the two logits for a
    method that explains logits, because the methods that are allowed are linear in the output.
    """

    target: int | None  # None: the predicted class of each text
    versus: int | None = None

    def of(self, trace: Trace) -> Tensor:
        """[B] the explained class of every text of a batch."""
        return trace.predicted if self.target is None else torch.full_like(trace.predicted, self.target)


def explained_classes(
    target: str,
    versus: str | None,
    label_names: Sequence[str],
    methods: Sequence[Named],
    linear_methods: Callable[[], Sequence[str]],
) -> tuple[ExplainedClass, ...]:
    """Find the classes that are asked for; a contrast is refused for a method that cannot give it exactly."""
    if versus is None:
        if target == PREDICTED:
            return (ExplainedClass(None),)
        if target == ALL:
            return tuple(map(ExplainedClass, range(len(label_names))))
        return (ExplainedClass(_number(target, label_names)),)
    if target in (PREDICTED, ALL):
        raise UsageError(
            f"A contrast is between two classes: with --versus {versus}, name the other one with --target."
        )
    if target == versus:
        raise UsageError(f"--target and --versus are both '{target}': name two different classes.")
    contrast = ExplainedClass(_number(target, label_names), _number(versus, label_names))
    for named in methods:
        _require_linear(named, linear_methods)
    return (contrast,)


def _number(name: str, label_names: Sequence[str]) -> int:
    if name not in label_names:
        known = ", ".join(label_names[:SHOWN]) + (", ..." if len(label_names) > SHOWN else "")
        raise UsageError(
            f"The model has no class '{name}'.{did_you_mean(name, label_names)} Classes: {known}."
        )
    return list(label_names).index(name)


def _require_linear(named: Named, linear_methods: Callable[[], Sequence[str]]) -> None:
    use = named.component.target_use
    if use == "linear":
        return
    reason = (
        "it gives the same scores for every class"
        if use == "ignored"
        else "its scores are not linear in the output of a class, so two of them cannot be subtracted"
    )
    raise UsageError(
        f"Importance '{named.label}' cannot explain why one class and not another: {reason}. "
        f"These can: {', '.join(linear_methods()) or 'none installed'}."
    )
