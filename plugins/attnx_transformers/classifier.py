from __future__ import annotations

import re
from typing import Any, Self

import torch
from torch import Tensor

from attnx.plugin import AttentionProjection, TaskData, UsageError

from .network import Network
from .options import HfClassifierOptions
from .reader import LayerReader
from .vision import VisionNetwork

KIND = "AutoModelForSequenceClassification"
_NAMELESS = re.compile(r"LABEL_\d+")


class HfClassifier(LayerReader):
    """Any Hugging Face classifier of texts or images as it is, with the attention of one of its layers.

    Attention is that of a layer, a head or the mean of all, from the position that the classifier
    answers from, to words: a word's pieces are added up, special pieces left out and the rest made to
    add up to 1. Replaced attention changes that layer alone; what lies above is computed again. A
    checkpoint without a classification head gets a new one, which is to be trained. Of images, which a
    vision transformer reads, the units are patches in place of words.
    """

    needs: tuple[str, ...] = ()  # words, or images

    def __init__(self, data: TaskData, options: HfClassifierOptions) -> None:
        network = _network(data, options)
        labels = len(data.label_names)
        if network.new and network.transformer.config.num_labels != labels:
            network = _network(data, options, num_labels=labels)
        super().__init__(network, options, options.query or ("last" if network.left else "first"))
        order = range(labels) if network.new else _order(network, data, options)
        self.register_buffer("order", torch.tensor(list(order)), persistent=False)
        if options.freeze:
            network.transformer.base_model.requires_grad_(False)
            for name, parameter in network.transformer.named_parameters():
                if name in network.new:  # a pooler, which is in the body and belongs to the head
                    parameter.requires_grad_(True)

    @classmethod
    def build(
        cls,
        data: TaskData,
        projection: AttentionProjection,  # noqa: ARG003 - its softmax is its own
        options: HfClassifierOptions,
    ) -> Self:
        return cls(data, options)

    def logits(self, output: Any) -> Tensor:
        logits: Tensor = output.logits[:, self.order]
        return logits


def _network(data: TaskData, options: HfClassifierOptions, **settings: Any) -> Network:
    """What reads the task's words, or its patches."""
    if data.features is None:
        return Network(KIND, data, options, **settings)
    if data.features.ndim != 4 or data.features.dtype.name != "uint8":
        raise UsageError("hf-classifier reads words, or images in patches: this task has neither.")
    return VisionNetwork(data, options, **settings)


def _order(network: Network, data: TaskData, options: HfClassifierOptions) -> list[int]:
    """The model's number of each label of the task; refused where nobody says which is which."""
    config = network.transformer.config
    names = [str(config.id2label[number]) for number in range(config.num_labels)]
    known = {name.lower(): number for number, name in enumerate(names)}
    wanted = options.labels or data.label_names
    if len(wanted) == len(data.label_names) and all(name.lower() in known for name in wanted):
        return [known[name.lower()] for name in wanted]
    nameless = all(_NAMELESS.fullmatch(name) for name in names)
    if nameless and not options.labels and len(names) == len(data.label_names):
        return list(range(len(names)))
    raise UsageError(
        f"checkpoint={options.checkpoint} knows the labels {', '.join(names)}, the task "
        f"{', '.join(data.label_names)}: give the model's names in the task's order, as "
        f"labels={'+'.join(names[: len(data.label_names)])}."
    )
