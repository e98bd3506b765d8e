"""Escapes foreign text for terminals, Markdown, LaTeX and scripts.

Labels, file names, provenance and texts of plugins may contain anything. HTML is escaped by the templates of
the pages; everything else is escaped here.
"""

from __future__ import annotations

import json
import re
from typing import Any

# Control characters, and marks that change the text direction: they can falsify what a reader sees.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
LONGEST = 2000  # characters of a message
_MARKDOWN = re.compile(r"([\\`*_\[\]|~])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
    "·": r"\textperiodcentered{}",
}


def half_character(text: str) -> bool:
    """Whether a text holds half a character (a lone surrogate), which cannot be written to a file."""
    return _SURROGATE.search(text) is not None


def shortened(text: str) -> str:
    """Text cut to the length of a message; very long words are cut too."""
    text = re.sub(r"\S{300,}", lambda word: f"{word[0][:200]}…{word[0][-50:]}", text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def printable(text: str, *, lines: bool = False) -> str:
    """Text for a terminal: control characters become escapes; `lines` keeps line ends."""
    shown = _CONTROL.sub(lambda found: found[0] if lines and found[0] == "\n" else _code(found[0]), text)
    return _SURROGATE.sub(lambda found: _code(found[0]), shown)


def _code(character: str) -> str:
    named = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
    return named.get(character) or (
        f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"
    )


def markdown(text: str) -> str:
    """Text for one cell or line of Markdown, shown literally."""
    escaped = _MARKDOWN.sub(r"\\\1", printable(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def latex(text: str) -> str:
    """Text for a LaTeX table, shown literally."""
    return "".join(_LATEX.get(character, character) for character in printable(text))


def script_json(value: Any) -> str:
    """JSON for a <script> element; nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = _SURROGATE.sub(lambda found: _code(found[0]), text)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
