from __future__ import annotations

import re
from functools import partial
from typing import Any, Self

import torch
from torch import Tensor

from attnx.plugin import AttentionProjection, Source, TaskData, UsageError

from .checkpoints import Checkpoint
from .network import Network
from .options import HfClassifierOptions
from .reader import LayerReader
from .vision import VisionNetwork
from .windows import check_overlap

KIND = "AutoModelForSequenceClassification"
_NAMELESS = re.compile(r"LABEL_\d+")


class HfClassifier(LayerReader):
    """A Hugging Face classifier of texts or images as it is, with the attention of one of its layers.

    It reads each text as its file has it, with the same input ids as in `transformers.pipeline`. The
    attention is that of one layer, of one head or the mean of all, from the position that the
    classifier answers from, to words: the weights of a word's pieces are added up, special pieces are
    left out, and the rest is scaled to add up to 1. Replaced attention changes that layer only; the
    layers above are computed again. A checkpoint without a classification head gets a new one, which
    must be trained. With overlap=... a text that is longer than the model reads is read in windows, and
    logits and attention are means over them. The units of an image, which a vision transformer reads,
    are its patches. An architecture whose attention cannot be read gets every test that needs none.
    """

    needs: tuple[str, ...] = ()  # words, or images
    provides: tuple[str, ...] = (*LayerReader.provides, "own-classes", "fast-logits")

    def __init__(self, data: TaskData, options: HfClassifierOptions) -> None:
        network = _network(data, options)
        labels = len(data.label_names)
        if network.new and network.transformer.config.num_labels != labels:
            network = _network(data, options, num_labels=labels)
        super().__init__(network, options, options.query or ("last" if network.left else "first"))
        self.overlap = options.overlap
        if options.overlap is not None:
            marks = network.pieces.tokenizer.num_special_tokens_to_add()
            check_overlap(options.overlap, network.limit - marks)
        order = range(labels) if network.new else _order(network, data, options)
        self.register_buffer("order", torch.tensor(list(order)), persistent=False)
        self.class_names = partial(_names_of_instance, data.label_names)  # type: ignore[method-assign]
        if options.freeze:
            network.transformer.base_model.requires_grad_(False)
            for name, parameter in network.transformer.named_parameters():
                if name in network.new:  # a pooler, which is in the body and belongs to the head
                    parameter.requires_grad_(True)

    @classmethod
    def build(
        cls,
        data: TaskData,
        projection: AttentionProjection,
        options: HfClassifierOptions,
    ) -> Self:
        return cls(data, options)

    @classmethod
    def class_names(cls, options: HfClassifierOptions, data: TaskData) -> tuple[str, ...]:
        """The names of the classes of the checkpoint, or those that the options give them."""
        if options.labels:
            return data.label_names
        config = Checkpoint.find(options, data.source or Source()).load("AutoConfig")
        return tuple(own_names(config))

    def logits(self, output: Any, used: Tensor) -> Tensor:
        logits: Tensor = output.logits[:, self.order]
        return logits


def _network(data: TaskData, options: HfClassifierOptions, **settings: Any) -> Network:
    """What reads the task's words, or its patches."""
    if data.features is None:
        return Network(KIND, data, options, in_windows=options.overlap is not None, **settings)
    if data.features.ndim != 4 or data.features.dtype.name != "uint8":
        raise UsageError("hf-classifier reads words, or images in patches: this task has neither.")
    if options.overlap is not None:
        raise UsageError("overlap=... cuts texts into windows; this task has images.")
    return VisionNetwork(data, options, **settings)


def _names_of_instance(names: tuple[str, ...], options: Any, data: TaskData) -> tuple[str, ...]:  # noqa: ARG001 - as it is called
    """The names of the classes of a model that was built: those of its task."""
    return names


def own_names(config: Any) -> list[str]:
    """The names of the classes that a configuration has, in the order of its logits."""
    return [str(config.id2label[number]) for number in range(config.num_labels)]


def _order(network: Network, data: TaskData, options: HfClassifierOptions) -> list[int]:
    """The model's number of each label of the task; refused where nobody says which is which."""
    config = network.transformer.config
    names = own_names(config)
    known = {name.lower(): number for number, name in enumerate(names)}
    wanted = options.labels or data.label_names
    if len(wanted) == len(data.label_names) and all(name.lower() in known for name in wanted):
        return [known[name.lower()] for name in wanted]
    nameless = all(_NAMELESS.fullmatch(name) for name in names)
    if nameless and not options.labels and len(names) == len(data.label_names):
        return list(range(len(names)))
    raise UsageError(
        f"checkpoint={options.checkpoint} knows the labels {', '.join(names)}, the task "
        f"{', '.join(data.label_names)}: give the model's names in the task's order, e.g. "
        f"labels={'+'.join(names[: len(data.label_names)])}."
    )
