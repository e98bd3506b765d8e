"""A trained model of the caller as a class whose models are copies of it, so that they can be trained on."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from torch import nn

from ..errors import UsageError
from ..host.cards import Kind
from ..request.objects import DEFAULTS, Given, Objects


def as_trainable(objects: Objects) -> dict[tuple[Kind, str], Given]:
    """The same objects, with a class that makes copies in the place of every trained model.

    Raises:
        UsageError: a model has no parameters, so it cannot learn anything.
    """
    return {key: _trainable(key[1], given) if key[0] == "model" else given for key, given in objects.items()}


def _trainable(label: str, given: Given) -> Given:
    model = given.thing
    if isinstance(model, type):
        return given
    if not isinstance(model, nn.Module) or not any(p.requires_grad for p in model.parameters()):
        raise UsageError(
            f"Model '{label}' has no parameters that can be trained, so a trigger cannot be planted. Give a "
            "torch module (attnx.wrap), a class, or the name of a model (attnx list models)."
        )
    return Given(_copies_of(model, label))


def _copies_of(model: nn.Module, label: str) -> type[Any]:
    usual: Mapping[str, Any] = DEFAULTS["model"]
    declared = {word: tuple(getattr(model, word, usual[word])) for word in ("needs", "provides")}

    def build(cls: type[Any], data: Any, projection: Any, options: Any) -> nn.Module:  # noqa: ARG001
        return deepcopy(model)

    return type(label, (type(model),), {**declared, "build": classmethod(build)})
