from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor

from attnx.plugin import AttentionProjection, TaskData, Trace, UsageError

from .network import Network
from .options import HfCausalOptions
from .prefixes import can_reuse, without_each
from .reader import LayerReader
from .word_pieces import QUERY


class HfCausal(LayerReader):
    """A Hugging Face language model that answers with the next word of a prompt around the text.

    The prompt is the template with the text as its file has it. The logit of a label is that of the
    first piece of its word after the prompt. Units are the words of the text; those of the template
    get no attention. The attention is that of one layer from the position that answers, reduced as in
    `hf-classifier`.
    """

    def __init__(self, data: TaskData, options: HfCausalOptions) -> None:
        asked = any(example.query is not None for example in data.train)
        if asked != (QUERY in options.template):
            wrong = "has no {query}, but the task has" if asked else "has a {query}, the task has none"
            raise UsageError(f"The template '{options.template}' {wrong}.")
        network = Network("AutoModelForCausalLM", data, options, left=True, template=options.template)
        if network.new:
            raise UsageError(
                f"checkpoint={options.checkpoint} is not a language model: it lacks "
                f"{', '.join(sorted(network.new))}."
            )
        super().__init__(network, options, options.query)
        self.register_buffer("answers", torch.tensor(_answers(network, data, options)), persistent=False)
        if can_reuse(network, self.logits):
            self.provides = (*self.provides, "fast-deletion")

    @classmethod
    def build(
        cls,
        data: TaskData,
        projection: AttentionProjection,
        options: HfCausalOptions,
    ) -> Self:
        return cls(data, options)

    def settings(self) -> dict[str, Any]:
        return {"logits_to_keep": 1, "use_cache": False}

    def without_each(self, trace: Trace) -> Tensor:
        """[B, L, C] without each word, from the states before it."""
        return without_each(self.network, self.logits, trace.batch, trace.embeddings)

    def logits(self, output: Any) -> Tensor:
        logits: Tensor = output.logits[:, -1, self.answers]
        return logits


def _answers(network: Network, data: TaskData, options: HfCausalOptions) -> list[int]:
    """The first piece of each label's word."""
    words = options.labels or data.label_names
    if len(words) != len(data.label_names):
        raise UsageError(
            f"labels={'+'.join(words)}: give one word for each of {', '.join(data.label_names)}."
        )
    first = [network.pieces.first_after(word) for word in words]
    if len(set(first)) < len(first):
        raise UsageError(
            f"The words {', '.join(words)} begin with the same piece, so their logits are the same: "
            "give others with labels=WORD+WORD."
        )
    return first
