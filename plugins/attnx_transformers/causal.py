from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import torch
from torch import Tensor

from attnx.plugin import AttentionProjection, Batch, Example, TaskData, UsageError

from .language.answers import Answers
from .language.generation import generated
from .language.prompts import make_prompt
from .network import Network
from .options import HfCausalOptions
from .prefixes import can_share, logits_of
from .reader import LayerReader


class HfCausal(LayerReader):
    """A Hugging Face language model that answers a prompt around the text with one of the label words.

    The prompt is the template with the text as its file has it, or, with chat=true, a message in the
    model's own chat template. The logit of a label is the log-probability of its word after the prompt:
    the sum over its pieces, their mean (length=mean), or that of the first piece (length=first). With
    calibrate=true the log-probability after a prompt with an empty text is subtracted. Units are the words
    of the text; those of the prompt get no attention. The attention is that of one layer from the position
    that answers, reduced as in `hf-classifier`.
    """

    provides: tuple[str, ...] = (*LayerReader.provides, "own-classes", "answers")
    calibration: Tensor  # [C]

    def __init__(self, data: TaskData, options: HfCausalOptions) -> None:
        asked = any(example.query is not None for example in (*data.train, *data.test))
        if asked != options.asks:
            prompt = "messages" if options.messages else f"template '{options.template}'"
            wrong = (
                "no {query}, but the task has questions" if asked else "a {query}, the task has no questions"
            )
            raise UsageError(f"The prompt ({prompt}) has {wrong}.")
        network = Network(
            "AutoModelForCausalLM",
            data,
            options,
            left=True,
            prompt=lambda tokenizer: make_prompt(tokenizer, options),
        )
        if network.new:
            raise UsageError(
                f"checkpoint={options.checkpoint} is not a language model: it lacks "
                f"{', '.join(sorted(network.new))}."
            )
        super().__init__(network, options, options.query)
        self.answers = _answers(network, options.labels or data.label_names, data, options)
        if not self.answers.single:
            self.whole = True  # the states of all layers are read after the prompt, so none can be skipped
            self.notices = (*self.notices, *_of_length(self.answers))
        self.register_buffer("calibration", torch.zeros(len(self.answers.ids)), persistent=False)
        if options.calibrate:
            self.calibration = self._without_text(asked)
        if can_share(network):
            self.provides = (*self.provides, "fast-logits")

    @classmethod
    def build(
        cls,
        data: TaskData,
        projection: AttentionProjection,
        options: HfCausalOptions,
    ) -> Self:
        return cls(data, options)

    @classmethod
    def class_names(cls, options: HfCausalOptions, data: TaskData) -> tuple[str, ...]:
        """The labels of the task; without a task the label words themselves."""
        return data.label_names or options.labels

    def generate(self, example: Example, longest: int) -> tuple[int, ...]:
        """The pieces that the model answers with, at each step the most probable."""
        return generated(self.network, self.encode([example]), longest)

    def pieces_of(self, answer: str) -> tuple[int, ...]:
        """The pieces of an answer after the prompt."""
        return self.network.pieces.answer(answer) if answer.strip() else ()

    def texts_of(self, pieces: Sequence[int]) -> tuple[str, ...]:
        """The text of each piece."""
        return tuple(str(self.network.pieces.tokenizer.decode([piece])) for piece in pieces)

    def text_of(self, pieces: Sequence[int]) -> str:
        """The text of pieces together."""
        return str(self.network.pieces.tokenizer.decode(list(pieces)))

    def answering(self, answers: Sequence[tuple[int, ...]], after: tuple[int, ...] = ()) -> Self:
        """The same model whose classes are answers after some pieces more of the prompt."""
        other = copy(self)
        other._modules, other._buffers = dict(self._modules), dict(self._buffers)
        other._modules["network"] = self.network.after(after)
        other.answers = Answers(tuple(answers), against_others=len(answers) == 1)
        other.whole = not (self.network.readable and self.network.stack.blocks and other.answers.single)
        other._buffers["calibration"] = self.calibration.new_zeros(2)
        return other

    def settings(self) -> dict[str, Any]:
        return {"logits_to_keep": 1, "use_cache": not self.answers.single}

    def logits_of(self, batches: Sequence[Batch]) -> list[Tensor]:
        """[B, C] of each batch; what inputs of a text begin with is computed once."""
        return [logits - self.calibration for logits in logits_of(self.network, self.answers, batches)]

    @property
    def reads_last_states(self) -> bool:
        """Not if an answer has several pieces, which are read one after the other."""
        return self.answers.single

    def logits(self, output: Any, used: Tensor) -> Tensor:
        return self.answers.logits(self.network, output, used) - self.calibration

    def _without_text(self, asked: bool) -> Tensor:
        """[C] what the labels get with an empty text in the prompt."""
        if asked:
            raise UsageError("calibrate=true needs one prompt for all texts; this task has questions.")
        pieces = self.network.pieces
        prompt: Any = pieces.prompt
        if not pieces.tokenizer(prompt.whole("", "")[0], add_special_tokens=prompt.marks).input_ids:
            raise UsageError(
                "calibrate=true needs words around {text} in the template: nothing else is left."
            )
        self.network.eval()
        with torch.no_grad():
            batch = self.encode([Example("", ("",), 0, text="", starts=(0,))])
            found: Tensor = self.run(batch, self.embed(batch)).logits[0]
        return found


def _answers(network: Network, words: Sequence[str], data: TaskData, options: HfCausalOptions) -> Answers:
    """The pieces of each label's words."""
    if len(words) != len(data.label_names):
        raise UsageError(
            f"labels={'+'.join(words)}: give one word for each of {', '.join(data.label_names)}."
        )
    if not all(word.strip() for word in words):
        raise UsageError(f"labels={'+'.join(words)}: an answer is empty; give every label a word.")
    answers = Answers(tuple(map(network.pieces.answer, words)), options.length)
    if len(set(answers.ids)) < len(words):
        raise UsageError(
            f"The words {', '.join(words)} are made of the same pieces, so they have the same probability: "
            "give others with labels=WORD+WORD."
        )
    if answers.single and len({answer[0] for answer in answers.ids}) < len(words):
        raise UsageError(
            f"The words {', '.join(words)} begin with the same piece, so their logits are the same: "
            "give others with labels=WORD+WORD, or length=sum."
        )
    return answers


def _of_length(answers: Answers) -> tuple[str, ...]:
    """What a reader must know where label words have different numbers of pieces."""
    counts = [len(answer) for answer in answers.ids]
    if len(set(counts)) == 1:
        return ()
    how = (
        "the mean over the pieces is compared"
        if answers.length == "mean"
        else "their log-probabilities are added up, which favours short words (length=mean takes the mean)"
    )
    return (f"the label words have {', '.join(map(str, counts))} pieces: {how}",)
