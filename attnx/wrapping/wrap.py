"""`attnx.wrap`: a torch module, or its class, as a model. What it can do is found out by trying."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast, overload

import torch
from torch import nn

from ..errors import PluginError, UsageError
from ..host.cards import CAPABILITIES
from ..protocols import Model
from ..testing.laws import Broken, require
from ..testing.model_laws import (
    ModelOnTask,
    close,
    decode_own,
    differentiable,
    held_attention,
    linear_decoder,
    model_attention,
    model_padding,
    reattend_own,
    reattend_several,
)
from ..types import Example, TaskData, Trace
from .module import Inputs, Pieces, Reader, WrappedModel

WORDS = ("one", "two", "three", "four", "five")  # of the trial, where no vocabulary is given
CLASSES = ("no", "yes")
Trial = Callable[[ModelOnTask], None]


@overload
def wrap(
    module: nn.Module,
    *,
    inputs: Inputs,
    embeddings: str = ...,
    attention: str | Callable[[nn.Module], torch.Tensor] | None = ...,
    hidden: str | Callable[[nn.Module], torch.Tensor] | None = ...,
    forward: Callable[..., torch.Tensor] | None = ...,
    unknown: int | None = ...,
    padding: int = ...,
) -> WrappedModel: ...
@overload
def wrap(
    module: Callable[[int, int], nn.Module],
    *,
    inputs: Inputs | None = ...,
    embeddings: str = ...,
    attention: str | Callable[[nn.Module], torch.Tensor] | None = ...,
    hidden: str | Callable[[nn.Module], torch.Tensor] | None = ...,
    forward: Callable[..., torch.Tensor] | None = ...,
    unknown: int | None = ...,
    padding: int = ...,
) -> type[WrappedModel]: ...
def wrap(
    module: nn.Module | Callable[[int, int], nn.Module],
    *,
    inputs: Inputs | None = None,
    embeddings: str = "embedding",
    attention: str | Callable[[nn.Module], torch.Tensor] | None = None,
    hidden: str | Callable[[nn.Module], torch.Tensor] | None = None,
    forward: Callable[..., torch.Tensor] | None = None,
    unknown: int | None = None,
    padding: int = 0,
) -> WrappedModel | type[WrappedModel]:
    """Make a model of a torch module by naming its submodules; what it can do is found out by trying.

    A trained module is measured as it is. A class, or a function, f(vocab_size, num_classes) is trained by
    attnx, with a vocabulary of the training texts.

    Args:
        module: takes ids [B, L], and `mask` or `lengths` if its forward has such an argument, and
            returns logits [B, C]. A module without either argument never gets padded input.
        inputs: the id of every word, or a function from words to as many ids.
        embeddings: the submodule that turns ids into vectors [B, L, E].
        attention: the submodule whose output is the weights [B, L], or a function that reads them from
            the module after a pass; then they cannot be replaced.
        hidden: the submodule whose output is [B, L, H], or a function that reads it.
        forward: calls the module, e.g. lambda net, ids, mask: net(ids, mask.sum(1)).
        unknown: the id of words without one; by default that of <unk>, [UNK] or <unknown>.
        padding: the id that fills up shorter texts.

    Returns:
        A model, or for a class or function a class of models, with `provides` (what it can do) and `cannot`
        (why it cannot do the rest). Pass it to `attnx.evaluate` in place of a name.

    Raises:
        UsageError: a submodule does not exist, or the module cannot be called in this way.
        PluginError: the logits of the module are not finite.
    """
    if not callable(module):
        raise UsageError(
            f"attnx.wrap takes a torch.nn.Module, or a class or function that makes one, not {module!r}."
        )
    pieces = Pieces(embeddings, attention, hidden, forward, padding)
    if isinstance(module, nn.Module):
        if inputs is None:
            raise UsageError(
                "attnx.wrap needs inputs= for a trained module: the id of every word, or a function from "
                "words to ids."
            )
        model = WrappedModel(module, pieces, Reader.of(inputs, unknown, padding))
        able, model.cannot = _abilities(model, _trial_data(inputs))
        model.provides = ("unseen-words", *able)  # its vocabulary is not that of the training texts
        return model
    name = getattr(module, "__name__", "module")
    made = _as_class(module, name, pieces, inputs, unknown)
    data = _trial_data(inputs)
    made.provides, made.cannot = _abilities(cast("Any", made).build(data, None, None), data)
    return made


def _as_class(
    make: Callable[[int, int], nn.Module], name: str, pieces: Pieces, inputs: Any, unknown: int | None
) -> type[WrappedModel]:
    def build(cls: type[WrappedModel], data: TaskData, projection: Any, options: Any) -> WrappedModel:  # noqa: ARG001
        reader = Reader.of_texts(data, pieces.padding) if inputs is None else None
        reader = reader or Reader.of(inputs, unknown, pieces.padding)
        try:
            module = make(reader.size, len(data.label_names))
        except TypeError as error:
            wanted = f"{name}{inspect.signature(make)}"
            raise UsageError(
                f"{wanted} must be a factory f(vocab_size, num_classes): {error}. Pass attnx.wrap a function "
                "of these two arguments."
            ) from error
        model = cls(module, pieces, reader)
        model.provides, model.cannot = cls.provides, cls.cannot
        return model

    return type(name, (WrappedModel,), {"build": classmethod(build), "__doc__": f"{name}, wrapped."})


def _trial_data(inputs: Any) -> TaskData:
    """Make a few texts of different lengths in words that the model knows."""
    known = [word for word in inputs if isinstance(word, str)] if isinstance(inputs, Mapping) else []
    words = known[-5:] if len(known) >= 3 else WORDS
    examples = tuple(
        Example(f"trial-{n}", tuple(words[(n + k) % len(words)] for k in range(length)), n % 2)
        for n, length in enumerate((3, 2, 5, 4, 1, 6))
    )
    return TaskData(train=examples, dev=examples, test=examples, label_names=CLASSES)


def _abilities(model: WrappedModel, data: TaskData) -> tuple[tuple[str, ...], dict[str, str]]:
    """Find out what a model can do, and why it cannot do the rest."""
    on = ModelOnTask(cast("Model", model), data)
    trials: dict[str, tuple[Trial, ...]] = {
        "attention": (model_attention,),
        "deletion": (model_padding,),
        "gradient": (differentiable,),
        "reattend": (reattend_own, reattend_several, held_attention, _replaced_matters),
        "hidden": (_hidden_shape,),
        "decode": (decode_own,),
        "linear-decoder": (linear_decoder,),
    }
    _attempt(lambda on: on.trace(), on)  # a module that does not run at all is reported first
    _require_finite(on.trace())  # NaN equals nothing, so every trial would fail for another reason
    able: list[str] = []
    cannot: dict[str, str] = {}
    for word, laws in trials.items():
        missing = model.lacks(word) or next((w for w in NEEDS.get(word, ()) if w not in able), "")
        if missing:
            cannot[word] = missing if " " in missing else f"it has no '{missing}'"
            continue
        model.provides = (*able, word)  # a law tests only what is provided
        try:
            for law in laws:
                law(on)
        except Exception as error:  # whatever it is, the module cannot do this
            cannot[word] = str(error).partition("\n")[0] or type(error).__name__
        else:
            able.append(word)
    return tuple(word for word in CAPABILITIES if word in able), cannot


NEEDS = {
    "reattend": ("attention",),
    "decode": ("hidden", "attention"),
    "linear-decoder": ("reattend",),
}


def _attempt(trial: Callable[[ModelOnTask], Any], on: ModelOnTask) -> None:
    try:
        trial(on)
    except UsageError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"The wrapped module fails on a text: {type(error).__name__}: {reason}.") from error


def _require_finite(trace: Trace) -> None:
    for example, kept in zip(trace.batch.examples, trace.logits.isfinite().all(1).tolist(), strict=True):
        if not kept:
            text = " ".join(example.units)[:40]
            raise PluginError(f"The wrapped module's logits are not finite on a made-up text, '{text}'.")


def _hidden_shape(on: ModelOnTask) -> None:
    trace = on.trace()
    fits = trace.hidden.ndim == 3 and trace.hidden.shape[:2] == trace.batch.mask.shape
    require(fits, f"hidden states have shape {tuple(trace.hidden.shape)}, not [B, L, H]")


def _replaced_matters(on: ModelOnTask) -> None:
    """Require that replaced weights have an effect; a module may compute them again elsewhere."""
    trace = on.trace()
    first = torch.zeros_like(trace.attention)
    first[:, 0] = 1.0  # a text begins with a unit
    with torch.no_grad():
        moved = on.model.reattend(trace, first)
    if close(moved, trace.logits) and not close(first, trace.attention):
        raise Broken("replacing the weights changes nothing: the module computes them but does not use them")
