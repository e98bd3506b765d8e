"""A classifier of transformers that is in memory already: exactly its weights and its tokenizer."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from attnx.plugin import TaskData, UsageError

from .checkpoints import quiet
from .classifier import HfClassifier, own_names
from .options import HfClassifierOptions, InMemoryOptions

PAIR = "give a text-classification pipeline, or the model and its tokenizer as a pair: (model, tokenizer)"


def of_pipeline(pipeline: Any, options: InMemoryOptions) -> HfClassifier:
    """The model of a `transformers` pipeline for text classification."""
    return of_pair((pipeline.model, pipeline.tokenizer), options)


def of_model(model: Any, options: InMemoryOptions) -> HfClassifier:  # noqa: ARG001 - as adapters are called
    """Refuse a model by itself: nothing says how it reads texts."""
    raise UsageError(f"{type(model).__name__} does not say how it reads texts: {PAIR}.")


def of_pair(pair: Any, options: InMemoryOptions) -> HfClassifier:
    """The model of a sequence classifier and its tokenizer.

    Both are written to a temporary folder and read again, so that the objects of the caller stay as they are
    and attention can be read whatever implementation they use.
    """
    if not (isinstance(pair, tuple) and len(pair) == 2 and hasattr(pair[0], "config") and callable(pair[1])):
        raise UsageError(f"This pair is not a model: {PAIR}.")
    model, tokenizer = pair
    config = model.config
    if "ForSequenceClassification" not in type(model).__name__:
        raise UsageError(f"{type(model).__name__} is not a sequence classifier: {PAIR}.")
    if config.num_labels < 2 or getattr(config, "problem_type", None) == "multi_label_classification":
        raise UsageError(
            f"{type(model).__name__} does not choose one of several classes (num_labels={config.num_labels}, "
            f"problem_type={config.problem_type}): attnx tests classifiers that do."
        )
    nothing = TaskData(train=(), dev=(), test=(), label_names=tuple(own_names(config)))
    with TemporaryDirectory(prefix="attnx-model-") as folder:
        with quiet():
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        return HfClassifier(nothing, HfClassifierOptions(checkpoint=folder, **options.model_dump()))
