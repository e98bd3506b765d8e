"""Models to intervene on: real ones of several kinds, and two whose verdict is known."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import AttentionProjection, Evidence, Example, Importance, Model, TaskData
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, trace_of
from attnx.run.measuring.metric_calls import answer_of
from attnx.testing import ToyModel, toy_data
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.han import Han
from attnx_encoders.options import BiLstmOptions, HanOptions
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import FcamOptions, SdcTextOptions
from attnx_sdc.text import SdcText

Made = tuple[Any, tuple[Example, ...]]
Make = Callable[[], Made]


class Winner(AttentionProjection):
    """All attention on the highest score, as hard attention has it."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        best = scores.masked_fill(~mask, -torch.inf).argmax(1)
        return torch.nn.functional.one_hot(best, scores.shape[1]).to(scores)


def toy() -> Made:
    return ToyModel(), toy_data().test


def linear_fcam() -> Made:
    return _fcam("linear")


def mlp_fcam(seed: int = 0) -> Made:
    return _fcam("mlp", seed)


def _fcam(classifier: Any, seed: int = 0) -> Made:
    torch.manual_seed(seed)
    data = SdcText(SdcTextOptions()).sample()
    model = Fcam.build(data, ToyModel().projection, FcamOptions(layer=1, classifier=classifier))
    with torch.no_grad():
        model.vectors.weight.mul_(5.0)  # type: ignore[operator, union-attr]
        logits = trace_of(model, model.encode(data.test[:10])).logits
        model.classifier.head.bias.sub_(logits.mean(0))  # type: ignore[operator, union-attr]
    return model, data.test[:10]


def query_bilstm(seed: int = 0) -> Made:
    """Texts of two to nine words with a question, start and end marks off the mask."""
    generator = torch.Generator().manual_seed(1)
    examples = []
    for i in range(8):
        words = torch.randint(0, 12, (2 + i,), generator=generator).tolist()
        asked = torch.randint(0, 12, (1 + i % 3,), generator=generator).tolist()
        units, query = tuple(f"w{w}" for w in words), tuple(f"w{w}" for w in asked)
        examples.append(Example(f"q-{i}", units, i % 3, query=query))
    data = TaskData(tuple(examples), (), (), ("a", "b", "c"))
    torch.manual_seed(seed)
    model = BiLstm.build(data, ToyModel().projection, BiLstmOptions(hidden=6, embedding=8))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)
    return model, data.train


def han() -> Made:
    """Texts of two to six sentences, which are the units."""
    generator = torch.Generator().manual_seed(2)
    examples = []
    for i in range(8):
        sentences = [
            " ".join(f"w{word}" for word in torch.randint(0, 12, (2 + j % 3,), generator=generator).tolist())
            for j in range(2 + i % 5)
        ]
        examples.append(Example(f"h-{i}", tuple(sentences), i % 2))
    data = TaskData(tuple(examples), (), (), ("a", "b"))
    torch.manual_seed(0)
    model = Han.build(data, ToyModel().projection, HanOptions(hidden=4, embedding=6, sentences="none"))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)
        logits = trace_of(model, model.encode(examples)).logits
        model.decoder.bias.sub_(logits.mean(0))
    return model, data.train


MODELS = (toy, linear_fcam, mlp_fcam, query_bilstm, han)

FILLER = ("two", "three", "four", "five")
SENTENCES = tuple(
    Example(f"planted-{n}", (*FILLER[: n % 3], "one", *(FILLER * 3)[: n - 1 - n % 3]), 1)
    for n in range(3, 11)
)


def explained() -> Made:
    """Attention is the explanation: "one" gets it all and decides, all other words say the contrary."""
    return _worth(1.0, -1.0), SENTENCES


def unexplained() -> Made:
    """Attention explains nothing: "one" gets it all, and every word says the same."""
    return _worth(1.0, 1.0), SENTENCES


def _worth(decider: float, filler: float) -> ToyModel:
    model = ToyModel()
    with torch.no_grad():
        model.vectors.copy_(torch.tensor([[0.0, filler]]).expand(6, 2))
        model.vectors[1] = torch.tensor([7.0, decider])
    return model


def evidence_of(
    model: Model, examples: tuple[Example, ...], seed: int = 0, values: Tensor | None = None
) -> Evidence:
    """Evidence about the model's attention, or about other values [B, L]."""
    with evaluating(model):
        trace = trace_of(model, model.encode(examples))
    given = trace.attention if values is None else values.masked_fill(~trace.batch.mask, 0.0)
    return Evidence(trace, Importance("given", given, trace.predicted), None, model, Randomness(seed))


def measure(metric: Any, evidence: Evidence) -> Tensor:
    """[B, M] what a metric says, called as an evaluation calls it."""
    with evaluating(evidence.model):
        return answer_of(Named("metric", metric), evidence)[0]


def random_values(evidence: Evidence) -> Evidence:
    """The same evidence about an explanation that is not attention, some of its values negative."""
    noise = torch.randn(evidence.trace.attention.shape, generator=torch.Generator().manual_seed(5))
    values = noise.masked_fill(~evidence.trace.batch.mask, 0.0)
    return dataclasses.replace(evidence, explanation=dataclasses.replace(evidence.explanation, values=values))


def output(evidence: Evidence, row: int, weights: np.ndarray) -> np.ndarray:
    """Probabilities of one example under one attention over its units."""
    attention = evidence.trace.attention.clone()
    attention[row] = 0
    attention[row, evidence.trace.batch.mask[row]] = torch.tensor(weights).to(attention)
    with evaluating(evidence.model):
        logits = evidence.model.reattend(evidence.trace, attention)[row]
    return logits.double().softmax(-1).numpy()


def units_of(evidence: Evidence, row: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Attention and explanation of the units of one example, and the columns they stand in."""
    on = evidence.trace.batch.mask[row]
    a, values = evidence.trace.attention[row, on], evidence.explanation.values[row, on]
    return a.double().numpy(), values.double().numpy(), on.nonzero()[:, 0].tolist()
