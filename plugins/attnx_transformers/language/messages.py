"""The messages of a chat, as options give them."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator

from attnx.plugin import Options


class Message(Options):
    """A message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str

    @field_validator("content")
    @classmethod
    def _with_lines(cls, text: str) -> str:
        return prompt_text(text)


def prompt_text(text: str) -> str:
    """A part of a prompt as an option gives it, in which \\n is a new line."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds half a character (a lone surrogate)")
    return text.replace("\\n", "\n")
