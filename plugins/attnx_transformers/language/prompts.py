"""The prompt around a text: a template, or messages in the model's own chat template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from attnx.plugin import DataError, UsageError

from ..options import HfCausalOptions
from .messages import Message

TEXT, QUERY = "{text}", "{query}"  # in a template
MARK = "\ue000"  # stands for the text while a chat template is written; no text holds this character


class Prompt(Protocol):
    """What is read around a text.

    Attributes:
        marks: whether the tokenizer adds its own special pieces, which a chat template has already.
    """

    marks: bool

    def whole(self, text: str, query: str) -> tuple[str, int]:
        """The prompt, and where the text begins in it; before its beginning where it is trimmed."""
        ...

    @property
    def ending(self) -> str:
        """What stands between the text, or the question after it, and the answer."""
        ...


class TemplatePrompt:
    """A template with {text} in it, and {query} where the task has questions."""

    marks = True

    def __init__(self, template: str) -> None:
        self.template = template

    def whole(self, text: str, query: str) -> tuple[str, int]:
        before, _, after = self.template.partition(TEXT)
        head, tail = (part.replace(QUERY, query) for part in (before, after))
        return f"{head}{text}{tail}", len(head)

    @property
    def ending(self) -> str:
        return self.template.rpartition("}")[2]


class ChatPrompt:
    """Messages as the model's chat template writes them, with {text} in one of them."""

    marks = False

    def __init__(self, tokenizer: Any, turns: Sequence[Message]) -> None:
        self.tokenizer, self.turns = tokenizer, turns
        self._around: dict[str, tuple[str, str]] = {}  # by question

    def whole(self, text: str, query: str) -> tuple[str, int]:
        head, tail = self._parts(query)
        written = self._written(text, query)
        if written == f"{head}{text}{tail}":
            return written, len(head)
        if written == f"{head}{text.strip()}{tail}":  # templates may trim a message
            return written, len(head) - (len(text) - len(text.lstrip()))
        raise DataError(
            f"The chat template of the model changes the text '{text[:40]}', so its words cannot be found in "
            "the prompt; use chat=false with a template of your own."
        )

    @property
    def ending(self) -> str:
        return self._parts("")[1]

    def _parts(self, query: str) -> tuple[str, str]:
        """What is before the text, and what is after it."""
        if query not in self._around:
            head, mark, tail = self._written(MARK, query).partition(MARK)
            if not mark or MARK in tail:
                raise UsageError(
                    "The chat template of the model does not write a message once and as it is; use "
                    "chat=false with a template of your own."
                )
            self._around[query] = head, tail
        return self._around[query]

    def _written(self, text: str, query: str) -> str:
        written = [
            {"role": turn.role, "content": TemplatePrompt(turn.content).whole(text, query)[0]}
            if TEXT in turn.content
            else {"role": turn.role, "content": turn.content.replace(QUERY, query)}
            for turn in self.turns
        ]
        begun = self.turns[-1].role == "assistant"  # the model goes on with the answer
        try:
            found: str = self.tokenizer.apply_chat_template(
                written, tokenize=False, add_generation_prompt=not begun, continue_final_message=begun
            )
        except Exception as error:  # a program of the model's makers, which may raise anything
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise UsageError(f"The chat template of the model refuses these messages: {reason}") from error
        return found


def make_prompt(tokenizer: Any, options: HfCausalOptions) -> Prompt:
    """The prompt that the options of a language model describe."""
    if not options.turns:
        return TemplatePrompt(options.template)
    if not getattr(tokenizer, "chat_template", None):
        asked = "messages" if options.messages else "chat=true"
        raise UsageError(
            f"checkpoint={options.checkpoint} has no chat template; leave out {asked}, and write the "
            "prompt with template=..."
        )
    return ChatPrompt(tokenizer, options.turns)
