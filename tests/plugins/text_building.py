"""Small attention classifiers of text, and data for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from attnx.plugin import AttentionProjection, Example, TaskData, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.testing import toy_data
from attnx.testing.toy import ToySoftmax
from attnx_encoders.average import Average
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.classifier import AttentionClassifier
from attnx_encoders.cnn import Cnn
from attnx_encoders.han import Han
from attnx_encoders.mlp import Mlp
from attnx_encoders.options import (
    BiLstmOptions,
    ClassifierOptions,
    CnnOptions,
    HanOptions,
    SequenceOptions,
    TransformerOptions,
)
from attnx_encoders.transformer import Transformer

SCORERS = ("additive", "dot", "deep")
SMALL: dict[str, Any] = {"embedding": 12, "hidden": 8}
MODELS: dict[str, tuple[type[AttentionClassifier[Any]], type[ClassifierOptions]]] = {
    "bilstm": (BiLstm, BiLstmOptions),
    "cnn": (Cnn, CnnOptions),
    "mlp": (Mlp, SequenceOptions),
    "average": (Average, SequenceOptions),
    "transformer": (Transformer, TransformerOptions),
    "han": (Han, HanOptions),
}


def build(
    name: str, data: TaskData | None = None, projection: AttentionProjection | None = None, **options: Any
) -> Any:
    """A small untrained model whose words differ clearly."""
    model, options_class = MODELS[name]
    torch.manual_seed(0)
    built = model.build(data or toy_data(), projection or ToySoftmax(), options_class(**{**SMALL, **options}))
    with torch.no_grad():
        built.word_vectors.weight.mul_(10.0)
    return built.eval()


def read(model: Any, examples: Sequence[Example]) -> Trace:
    batch = model.encode(examples)
    with evaluating(model):
        return model.run(batch, model.embed(batch))


def with_queries(data: TaskData) -> TaskData:
    """The same data with queries of different lengths."""
    words = ("one", "five", "two")
    asked = tuple(replace(example, query=words[: 1 + row % 3]) for row, example in enumerate(data.train))
    return replace(data, train=asked, dev=asked, test=asked)


def sentence_data() -> TaskData:
    """Texts of words and sentence marks, the first with a rationale."""
    texts = [
        "one two . three four five ! one",
        "five .",
        "one two three four five one two three",
        "two ? four ! ! one . three",
    ]
    examples = tuple(
        Example(
            f"text-{i}",
            tuple(text.split()),
            i % 2,
            rationale=tuple(place == 4 for place in range(len(text.split()))) if i == 0 else None,
        )
        for i, text in enumerate(texts)
    )
    return TaskData(train=examples, dev=examples, test=examples, label_names=("no", "yes"))
