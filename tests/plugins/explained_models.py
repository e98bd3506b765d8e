"""Models that importance methods are tried on, each with examples it can read."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from attnx.plugin import AttentionProjection, Example, ImportanceMethod, Model, TaskData, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, attribute, trace_of
from attnx.testing import ToyModel, toy_data
from attnx_encoders.average import Average
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.cnn import Cnn
from attnx_encoders.han import Han
from attnx_encoders.mlp import Mlp
from attnx_encoders.options import (
    BiLstmOptions,
    CnnOptions,
    HanOptions,
    SequenceOptions,
    TransformerOptions,
)
from attnx_encoders.transformer import Transformer
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import FcamOptions, Sdc2dOptions, SdcTextOptions
from attnx_sdc.plane import Plane
from attnx_sdc.text import SdcText
from attnx_texts.samples import make_sample

Make = Callable[[], tuple[Model, TaskData]]


class Flat(AttentionProjection):
    """The same weight for every unit, whatever the scores."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        return mask.to(scores) / mask.sum(1, keepdim=True).clamp_min(1)


class Linear(ToyModel):
    """Linear in the embeddings: the logit of class 1 is the mean of second coordinates, of 0 its negative."""

    def __init__(self) -> None:
        super().__init__(Flat())


def toy() -> tuple[Model, TaskData]:
    return ToyModel(), toy_data()


def fcam(data: TaskData, **options: object) -> tuple[Model, TaskData]:
    torch.manual_seed(0)
    return Fcam.build(data, ToyModel().projection, FcamOptions.model_validate({"layer": 1, **options})), data


def words(**options: object) -> tuple[Model, TaskData]:
    return fcam(SdcText(SdcTextOptions()).sample(), **options)


def features(**options: object) -> tuple[Model, TaskData]:
    return fcam(Plane(Sdc2dOptions(test=12)).sample(), **options)


def _text(model: type, options: object) -> tuple[Model, TaskData]:
    data = make_sample(("negative", "positive"))
    if model is Han:
        data = replace(data, **{split: _in_two(getattr(data, split)) for split in ("train", "dev", "test")})
    torch.manual_seed(0)
    built = model.build(data, ToyModel().projection, options)  # type: ignore[attr-defined]
    with torch.no_grad():
        for parameter in built.parameters():
            parameter *= 3  # as if trained: small weights make every output ½
    return built, data


def _in_two(examples: tuple[Example, ...]) -> tuple[Example, ...]:
    """Texts of two sentences."""
    return tuple(replace(e, units=(*e.units[:4], ".", *e.units[4:])) for e in examples)


SMALL = {"hidden": 8, "embedding": 6}
TEXT: dict[str, Make] = {
    "bilstm": partial(_text, BiLstm, BiLstmOptions(**SMALL)),  # type: ignore[arg-type]
    "cnn": partial(_text, Cnn, CnnOptions(**SMALL)),  # type: ignore[arg-type]
    "transformer": partial(_text, Transformer, TransformerOptions(**SMALL)),  # type: ignore[arg-type]
    "mlp": partial(_text, Mlp, SequenceOptions(**SMALL)),  # type: ignore[arg-type]
    "average": partial(_text, Average, SequenceOptions(**SMALL)),  # type: ignore[arg-type]
    "han": partial(_text, Han, HanOptions(**SMALL)),  # type: ignore[arg-type]
}
MODELS: dict[str, Make] = {"toy": toy, "words": words, "features": features, **TEXT}


def explain(
    model: Model, examples: Sequence[Example], method: ImportanceMethod, target: Tensor | None = None
) -> tuple[Trace, Tensor]:
    """The trace and the values [B, L] as the evaluator gets them."""
    with evaluating(model):
        trace = trace_of(model, model.encode(examples))
        chosen = trace.predicted if target is None else target
        return trace, attribute(Named("it", method), model, trace, chosen).values
