"""Which class is explained: the predicted one, the label, a named one, all, or one in contrast to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..errors import UsageError, did_you_mean
from ..types import ExplainedClass

PREDICTED: Final = "predicted"  # targets that are not the name of a class
GOLD: Final = "gold"
ALL: Final = "all"
SHOWN = 20  # classes that an error lists


def explained_classes(
    target: str, versus: str | None, label_names: Sequence[str], *, labelled: bool = True
) -> tuple[ExplainedClass, ...]:
    """Find the classes that are asked for; the labels of the examples are known if `labelled`."""
    if target == ALL and versus is None:
        return tuple(map(ExplainedClass, range(len(label_names))))
    if target == GOLD and not labelled:
        raise UsageError(
            "--target gold explains the label of an example, which a text of your own does not have: name "
            "the class, or explain an example (--example ID)."
        )
    return (explained_class(target, versus, label_names),)


def explained_class(target: str, versus: str | None, label_names: Sequence[str]) -> ExplainedClass:
    """Find the one class, or the contrast of two, that is asked for."""
    if versus is None:
        if target == PREDICTED:
            return ExplainedClass("predicted")
        if target == GOLD:
            return ExplainedClass("gold")
        if target == ALL:
            raise UsageError("A run explains one class: --target all is for attnx explain.")
        return ExplainedClass(_number(target, label_names))
    if target in (PREDICTED, GOLD, ALL):
        raise UsageError(
            f"A contrast is between two classes: with --versus {versus}, name the other one with --target."
        )
    if target == versus:
        raise UsageError(f"--target and --versus are both '{target}': name two different classes.")
    return ExplainedClass(_number(target, label_names), _number(versus, label_names))


def _number(name: str, label_names: Sequence[str]) -> int:
    if name not in label_names:
        known = ", ".join(label_names[:SHOWN]) + (", ..." if len(label_names) > SHOWN else "")
        raise UsageError(
            f"The model has no class '{name}'.{did_you_mean(name, label_names)} Classes: {known}."
        )
    return list(label_names).index(name)
