"""An importance method from any Python function of a model and texts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness, similar_lengths
from attnx.plugin import DataError, Example, ImportanceMethod, Model, PluginError, Trace, UsageError

Words = Sequence[str]
PROTOCOL = 4  # arguments of a method as attnx.plugin.ImportanceMethod has them
LARGEST = float(np.finfo(np.float32).max)
SHOWN = 5  # words of a text that an error shows


class Classifier:
    """The explained model as a function gets to see it: from texts to probabilities.

    Attributes:
        target: for every text of the call the number of the class that is explained.
        model: the model itself.
    """

    def __init__(
        self, model: Model, examples: Sequence[Example], target: Sequence[int], asked_by: str = "the function"
    ) -> None:
        self.model = model
        self.target = tuple(target)
        self._known = {example.units: example for example in examples}
        self._asked_by = asked_by
        self._number = 0

    def __call__(self, texts: Sequence[str | Words]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """[texts, classes] the probabilities of texts, each a string or a list of words."""
        if isinstance(texts, str):  # whose letters would be taken for texts
            raise PluginError(f"{self._asked_by} asked the model about '{texts[:40]}': give a list of texts")
        examples = [self._example(text.split() if isinstance(text, str) else text) for text in texts]
        lengths = torch.tensor([len(example.units) for example in examples])
        found: dict[int, Any] = {}
        with torch.no_grad():
            for rows in similar_lengths(lengths):
                batch = self.model.encode([examples[row] for row in rows.tolist()])
                device = next(iter(self.model.parameters()), lengths).device
                batch = batch.to(device)
                p = self.model.run(batch, self.model.embed(batch)).logits.double().softmax(-1)
                found.update(zip(rows.tolist(), p.cpu().numpy(), strict=True))
        return np.stack([found[row] for row in range(len(examples))])

    def _example(self, words: Words) -> Example:
        if not isinstance(words, list | tuple) or not words or not all(isinstance(w, str) for w in words):
            raise PluginError(
                f"{self._asked_by} asked the model about a text that is empty or not made of words"
            )
        self._number += 1
        whole = self._known.get(tuple(words))  # a text as its file has it
        return whole or Example(f"asked-{self._number}", tuple(words), 0)


class FunctionMethod(ImportanceMethod):
    """Scores from a Python function: function(model, texts) gives one score for every word of every text.

    `texts` is a list of lists of words. `model(texts)` gives the probabilities [texts, classes] of any texts,
    and `model.target` the class that is explained of each. Scores may have signs.
    """

    needs = ("words",)
    passes = "units"  # how many is not known: as many as leave-one-out takes is a cautious guess

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.signed = bool(getattr(function, "signed", False))

    def check(self, examples: Sequence[Example]) -> None:
        if any(example.query is not None for example in examples):
            raise DataError(
                "A function of texts cannot explain a task whose texts come with a question: write a class "
                "that follows attnx.plugin.ImportanceMethod."
            )

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch = trace.batch
        words = [list(example.units) for example in batch.examples]
        examples = [replace(example, label=0) for example in batch.examples]
        name = _name(self.function)
        found = self.function(Classifier(model, examples, target.tolist(), f"'{name}'"), words)
        rows = _rows(found, words, name)
        longest = max(map(len, words))
        scores = torch.tensor([[*row, *[0.0] * (longest + 1 - len(row))] for row in rows])  # [B, n + 1]
        index = batch.unit_index.cpu().masked_fill(~batch.mask.cpu(), longest)  # the last score is 0
        return scores.gather(1, index).to(trace.embeddings)


def _rows(found: Any, words: Sequence[Words], name: str) -> list[list[float]]:
    """The scores of every text as numbers; refused if there is not one finite score for every word."""
    try:
        rows = [_numbers(row) for row in found]
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise PluginError(f"'{name}' must return one list of scores for each text: {reason}") from error
    if len(rows) != len(words):
        raise PluginError(f"'{name}' returned scores for {len(rows)} texts, not for {len(words)}")
    for row, text in zip(rows, words, strict=True):
        shown = " ".join(text[:SHOWN]) + (" ..." if len(text) > SHOWN else "")
        if len(row) != len(text):
            raise PluginError(
                f"'{name}' returned {len(row)} scores for the {len(text)} words of '{shown}': return one "
                "score for each word"
            )
        if not np.isfinite(row).all():
            raise PluginError(f"'{name}' returned a score that is not finite for '{shown}'")
        if max(map(abs, row)) > LARGEST:
            raise PluginError(
                f"'{name}' returned {max(row, key=abs):g} for '{shown}', which is too large for single "
                "precision: divide all scores by the same number"
            )
        if len(set(row)) > 1 and len(np.unique(np.array(row, np.float32))) == 1:
            raise PluginError(
                f"'{name}' returned scores for '{shown}' that differ too little for single precision: "
                "subtract what they have in common"
            )
    return rows


def _numbers(row: Any) -> list[float]:
    """The scores of a text; strings, dates and complex numbers are none, though numpy would convert them."""
    found = np.atleast_1d(np.squeeze(np.asarray(row)))
    if found.ndim > 1:
        raise ValueError(f"the scores of a text have the shape {np.shape(row)}")
    values = found.tolist()
    for value in values:
        if not isinstance(value, Real):
            raise TypeError(f"{str(value)[:40]!r} is not a number")
    return [float(value) for value in values]


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def of_function(function: Callable[..., Any]) -> Any:
    """The method of a function(model, texts); one with the four arguments of the protocol is one already."""
    try:
        inspect.signature(function).bind(*range(2))
    except TypeError:
        try:
            inspect.signature(function).bind(*range(PROTOCOL))
        except TypeError:
            name = _name(function)
            raise UsageError(
                f"'{name}' cannot be called as {name}(model, texts): an importance method takes a model and "
                "a list of texts, each a list of words, and returns one score for each word."
            ) from None
        return function
    return FunctionMethod(function)
