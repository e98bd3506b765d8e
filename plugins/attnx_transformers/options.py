"""Options of the models that Hugging Face checkpoints become, and of what reads their layers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from attnx.plugin import Options, TargetUse

from .language.messages import Message, prompt_text

# Architectures that do not attend through the attention interface of transformers, or not by weights
# that add up to 1; docs/transformers.md has the table, and a test keeps both equal.
WITHOUT_ATTENTION = frozenset(
    "big_bird bloom convbert ctrl deberta deberta-v2 diffllama flaubert fnet funnel gpt_oss longformer "
    "megatron-bert mpnet mpt mra nystromformer openai-gpt rembert roformer squeezebert xlm xlnet yoso".split()
)
OF_A_LAYER = ("attention", "reattend", "hidden", "decode", "layers", "one-layer", "layer-states")
Head = int | Literal["mean"]
Query = Literal["first", "last", "mean"]


class CheckpointOptions(Options):
    """Which model is loaded, and how much of a text it reads."""

    checkpoint: str = Field(
        min_length=1,
        description="a folder in Hugging Face layout with safetensors, a GGUF file or a folder with one, "
        "minilm, smollm2, or a name on the hub",
    )
    revision: str = Field("main", description="of a name on the hub: a branch, a tag or a commit")
    trust_remote_code: bool = Field(False, description="run Python code that comes with the model")
    longest: int | None = Field(
        None, ge=8, description="most word pieces read of a text; None: as many as the model can"
    )
    dtype: Literal["float32", "float64"] = Field(
        "float32", description="precision it is loaded and measured in, whatever that of its file"
    )
    device_map: str = Field(
        "",
        description="where the layers go, as accelerate reads it: auto, balanced, sequential or a device; by "
        "default all are on the device of the run",
    )
    attention: Literal["auto", "none"] = Field(
        "auto",
        description="none: do not read the attention of the layers; auto: read it, except where the "
        "architecture is known not to show it",
    )

    @property
    def reads_attention(self) -> bool:
        """Whether the attention of the layers can be read, as far as a folder's config.json says."""
        return self.attention == "auto" and architecture(self.checkpoint) not in WITHOUT_ATTENTION

    @property
    def also_provides(self) -> tuple[str, ...]:
        return self.of_attention if self.reads_attention else ()

    of_attention: ClassVar[tuple[str, ...]] = (
        "layers",
        "one-layer",
        "layer-states",
    )  # what it provides where attention can be read


def architecture(checkpoint: str) -> str:
    """The model type that the config.json of a folder names; nothing where there is no such file."""
    try:
        config = json.loads((Path(checkpoint).expanduser() / "config.json").read_text(encoding="utf-8"))
    except (OSError, RuntimeError, ValueError):  # whoever loads the checkpoint says what is wrong
        return ""
    found = config.get("model_type", "") if isinstance(config, dict) else ""
    return str(found)


class HfOptions(CheckpointOptions):
    """Options of `hf`."""

    scorer: Literal["additive", "dot", "deep"] = Field(
        "additive", description="how a hidden state becomes a score"
    )
    scorer_layers: int = Field(2, ge=1, description="fully connected layers of the deep scorer")
    pieces: Literal["mean", "first"] = Field(
        "mean", description="hidden state of a word: the mean of its pieces', or that of the first"
    )
    freeze: bool = Field(False, description="leave the encoder as it is in training")

    @property
    def also_provides(self) -> tuple[str, ...]:
        return (*super().also_provides, *(("frozen-states",) if self.freeze else ()))


class ReadingOptions(Options):
    """Which of the many attentions of a transformer is read."""

    reading: ClassVar[tuple[str, ...]] = ("layer", "head", "query", "pieces")

    layer: int = Field(-1, description="from 0 at the bottom; -1 is the last")
    head: Head = Field("mean", description="a head by number from 0, or the mean of all")
    query: Query = Field("first", description="the position that attends: first, last, or the mean of all")
    pieces: Literal["sum", "first"] = Field(
        "sum", description="weight of a word: the sum of its pieces', or that of the first"
    )


class LayerReaderOptions(ReadingOptions, CheckpointOptions):
    """Options of a model whose tested attention is that of one of its layers."""

    of_attention: ClassVar[tuple[str, ...]] = OF_A_LAYER


class HfClassifierOptions(LayerReaderOptions):
    """Options of `hf-classifier`."""

    query: Query | None = Field(  # type: ignore[assignment]
        None,
        description="the position that attends: first, last, mean of all; None: the one it answers from",
    )
    labels: tuple[str, ...] = Field(
        (), description="the model's names of the task's labels in their order, joined by +"
    )
    overlap: int | None = Field(
        None,
        ge=0,
        description="read a text that is longer than the model reads in windows that share so many pieces, "
        "and take the mean of their outputs; None: cut it at its end",
    )
    freeze: bool = Field(False, description="train the classification head alone")

    @property
    def also_provides(self) -> tuple[str, ...]:
        found = super().also_provides  # a word in two windows has two states, and no single one
        return found if self.overlap is None else tuple(word for word in found if word == "attention")


class InMemoryOptions(Options):
    """Options of a classifier in memory: how its attention is read, and how much of a text it reads."""

    layer: int = Field(-1, description="the layer that attention is read from; -1: the last")
    head: Head = Field("mean", description="the head, from 0, or mean")
    query: Query | None = Field(
        None,
        description="the position that attends: first, last, mean of all; None: the one it answers from",
    )
    longest: int | None = Field(
        None, ge=8, description="most word pieces read of a text; None: as many as the model can"
    )
    attention: Literal["auto", "none"] = Field(
        "auto", description="none: do not read the attention of the layers"
    )


class HfCausalOptions(LayerReaderOptions):
    """Options of `hf-causal`."""

    query: Query = Field("last", description="the position that attends: first, last, or the mean of all")
    labels: tuple[str, ...] = Field(
        (), description="a word for each label of the task in their order, joined by +; its names by default"
    )
    template: str = Field(
        "{text} It is",
        description="the prompt whose next words are the answer, with {text} in it; \\n is a new line",
    )
    chat: bool = Field(
        False, description="write the template as a message of the user in the model's own chat template"
    )
    system: str = Field("", description="a message of the system before that of the user, with chat=true")
    messages: tuple[Message, ...] = Field(
        (),
        description="a whole chat for the model's own chat template, with {text} in one message: a JSON file "
        'with a list of {"role": ..., "content": ...}, or in Python the list',
    )
    length: Literal["sum", "mean", "first"] = Field(
        "sum",
        description="label words of several pieces: the sum of the log-probabilities of their pieces, the "
        "mean, or that of the first piece alone",
    )
    calibrate: bool = Field(
        False, description="subtract what the labels get with an empty text in the prompt"
    )

    @field_validator("template", "system")
    @classmethod
    def _with_lines(cls, text: str) -> str:
        return prompt_text(text)

    @field_validator("messages", mode="before")
    @classmethod
    def _from_file(cls, given: Any) -> Any:
        if not given or not all(isinstance(part, str) for part in given):
            return given
        file = given if isinstance(given, str) else "+".join(given)  # as lists of words are split
        try:
            return json.loads(Path(file).expanduser().read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"cannot read a list of messages from '{file}': {error}") from error

    @field_validator("messages")
    @classmethod
    def _hold_the_text(cls, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        if messages and sum(message.content.count("{text}") for message in messages) != 1:
            raise ValueError("must hold {text} once, in one of the messages")
        return messages

    @field_validator("template")
    @classmethod
    def _holds_the_text(cls, template: str) -> str:
        if template.count("{text}") != 1:
            raise ValueError("must hold {text} once")
        return template

    @model_validator(mode="after")
    def _chats(self) -> Self:
        if self.system and not self.chat:
            raise ValueError("system=... is a message of a chat; give chat=true too")
        if self.messages and (self.chat or self.template != type(self).model_fields["template"].default):
            raise ValueError("messages=... is the whole prompt; leave out template, chat and system")
        return self

    @property
    def turns(self) -> tuple[Message, ...]:
        """The messages of a chat; none where the prompt is a template alone."""
        if self.messages or not self.chat:
            return self.messages
        system = (Message(role="system", content=self.system),) if self.system else ()
        return (*system, Message(role="user", content=self.template))

    @property
    def asks(self) -> bool:
        """Whether the prompt holds the question of a task."""
        return any("{query}" in text for text in (self.template, *(turn.content for turn in self.turns)))


class LayerOptions(Options):
    """Which positions of a transformer are asked, and how pieces make words."""

    query: Literal["own", "first", "last", "mean"] = Field(
        "own", description="the position that is explained: the one the model answers from, or another"
    )
    pieces: Literal["sum", "first"] = Field(
        "sum", description="score of a word: the sum of its pieces', or that of the first"
    )


class AttentionFlowOptions(Options):
    """Options of `attention-flow`."""

    query: Literal["own", "first", "last", "mean"] = Field(
        "own", description="the position that is explained: the one the model answers from, or another"
    )


class AltiLogitOptions(Options):
    """Options of `alti-logit`."""

    pieces: Literal["sum", "first"] = Field(
        "sum", description="score of a word: the sum of its pieces', or that of the first"
    )


class AttentionLrpOptions(Options):
    """Options of `attn-lrp`."""

    attention: Literal["shared", "fixed"] = Field(
        "shared",
        description="relevance is shared between attention weights and values, or weights are constants and "
        "values get all",
    )
    absolute: bool = Field(False, description="use absolute values")

    @property
    def target_use(self) -> TargetUse:
        """Linear in the logit, unless absolute values are taken."""
        return "read" if self.absolute else "linear"


class ClsAttentionOptions(LayerOptions):
    """Options of `cls-attention`."""

    layer: int = Field(-1, description="from 0 at the bottom; -1 is the last")
    head: Head = Field("mean", description="a head by number from 0, or the mean of all")


class AttentionNormOptions(LayerOptions):
    """Options of `attention-norm`."""

    layer: int = Field(-1, description="from 0 at the bottom; -1 is the last")
    head: Head | Literal["sum"] = Field("sum", description="a head by number from 0, or the sum over all")
