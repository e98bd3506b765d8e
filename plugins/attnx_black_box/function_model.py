"""A model of which nothing is known but a function from texts to probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnx.plugin import Batch, Example, PluginError, TaskData, Trace, UsageError

from .removal import text_of

Function = Callable[[list[str]], Any]
TOLERANCE = 1e-3  # of a sum of probabilities


class FunctionModel(nn.Module):
    """A function from texts to class probabilities; words are deleted or replaced in the text itself.

    It shows neither attention nor gradients. An embedding of 0 stands for a word that is deleted, so that
    methods that put zeros in the place of words (LIME, SHAP, ablation) delete them too.
    """

    provides: tuple[str, ...] = ("deletion", "unseen-words", "raw-text")
    needs = ("words",)

    def __init__(self, function: Function, classes: Sequence[str] | None = None) -> None:
        super().__init__()
        self.function = function
        self.number_of: dict[str, int] = {}  # every word that was encoded, in the order of first use
        self.classes = None if classes is None else tuple(classes)
        if classes is not None:
            self.provides = (*self.provides, "own-classes")

    def class_names(self, options: Any, data: TaskData) -> tuple[str, ...]:
        return self.classes or data.label_names

    def encode(self, examples: Sequence[Example]) -> Batch:
        for example in examples:
            for word in example.units:
                self.number_of.setdefault(word, len(self.number_of))
        return Batch.padded(examples, [[self.number_of[word] for word in e.units] for e in examples])

    def embed(self, batch: Batch) -> Tensor:
        return batch.mask.float()[..., None]  # [B, L, 1]: 1 where a word is there

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        there = batch.mask & (embeddings[..., 0] != 0)  # [B, L]
        words = list(self.number_of)
        texts = []
        for example, index, inputs, present in zip(
            batch.examples, batch.unit_index, batch.inputs, there, strict=True
        ):
            numbers = inputs[present].tolist()
            texts.append(text_of(example, index[present].tolist(), [words[number] for number in numbers]))
        return Trace.of(batch, embeddings, self._probabilities(texts).log().to(embeddings))

    def _probabilities(self, texts: Sequence[str]) -> Tensor:
        """[B, C] one row for each text; equal texts are asked for once."""
        different = list(dict.fromkeys(texts))
        try:
            found = np.asarray(self.function(different), dtype=float)  # [U, C]
        except (TypeError, ValueError) as error:
            raise PluginError(
                "the function must take a list of texts and return one row of class probabilities for each "
                f"text: {error}"
            ) from error
        self._check(found, len(different))
        row_of = {text: row for row, text in enumerate(different)}
        smallest = torch.finfo(torch.float32).tiny  # the logarithm of 0 is not finite
        return torch.from_numpy(found)[[row_of[text] for text in texts]].clamp_min(smallest)

    def _check(self, found: np.ndarray[Any, Any], texts: int) -> None:
        if found.ndim != 2 or len(found) != texts:
            raise PluginError(
                f"the function returned shape {found.shape} for {texts} texts, not ({texts}, classes)"
            )
        if not np.isfinite(found).all() or (found < 0).any():
            raise PluginError("the function returned negative or infinite values, not probabilities")
        sums = found.sum(1)
        if (np.abs(sums - 1) > TOLERANCE).any():
            raise PluginError(
                f"the function returned rows with sums from {sums.min():.3g} to {sums.max():.3g}, not 1: "
                "return probabilities, such as predict_proba or a softmax of logits"
            )

    def attention_parameters(self) -> tuple[nn.Parameter, ...]:
        return ()


def of_function(function: Function) -> FunctionModel:
    """The model of a function from a list of texts to class probabilities [texts, classes]."""
    return FunctionModel(function)


def of_estimator(estimator: Any) -> FunctionModel:
    """The model of a fitted scikit-learn classifier of texts, such as a pipeline with a vectoriser."""
    predict = getattr(estimator, "predict_proba", None)
    if predict is None:
        raise UsageError(
            f"{type(estimator).__name__} has no predict_proba, so it gives no probabilities: use a "
            "classifier that has one, for example CalibratedClassifierCV around it."
        )
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise UsageError(f"This {type(estimator).__name__} is not fitted: call its fit method first.")
    return FunctionModel(predict, [str(name) for name in classes])
