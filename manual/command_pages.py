"""The reference of the command line, made from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from attnx.cli.app import app
from attnx.cli.global_options import add_global_options

from .component_pages import _table, text


def command_page() -> str:
    """All commands with their arguments and options."""
    root = typer.main.get_command(app)
    inner: dict[str, Any] = root.commands  # type: ignore[attr-defined]
    lines = ["# Commands", "", "This page is made from the command line itself: `attnx COMMAND --help`.", ""]
    lines += _table(
        ["command", "what it does"],
        [[f"[attnx {name}](#attnx-{name})", text(_first(command))] for name, command in inner.items()],
    )
    common = typer.main.get_command(typer.Typer(callback=lambda: None, invoke_without_command=True))
    common.params = []
    lines += ["", "Every command also takes these options:", ""]
    lines += _options(add_global_options(common))
    for name, command in inner.items():
        lines += ["", *_command(f"attnx {name}", command, 2)]
    return "\n".join(lines) + "\n"


def _command(title: str, command: Any, level: int) -> Iterator[str]:
    yield f"{'#' * level} {title} {{ #{title.replace(' ', '-')} }}"
    yield ""
    said, _, examples = (command.help or "").partition("Examples:")
    yield from (
        text(paragraph) + "\n" for paragraph in said.replace("\b", "").split("\n\n") if paragraph.strip()
    )
    if examples:
        yield from [
            "```sh",
            *(f"$ {line.strip()}" for line in examples.splitlines() if line.strip()),
            "```",
            "",
        ]
    yield from _options(command)
    for name, inner in getattr(command, "commands", {}).items():
        yield ""
        yield from _command(f"{title} {name}", inner, level + 1)


def _options(command: Any) -> list[str]:
    rows = []
    for param in command.params:
        if getattr(param, "hidden", False) or param.name in ("install_completion", "show_completion"):
            continue
        names = ", ".join(f"`{name}`" for name in param.opts if name.startswith("-"))
        given = param.metavar or ("" if getattr(param, "is_flag", False) else param.type.name.upper())
        rows.append(
            [
                names or f"`{param.metavar or param.name}`",
                text(given) if names else "",
                text(param.help or ""),
            ]
        )
    return _table(["option", "value", "meaning"], rows) if rows else []


def _first(command: Any) -> str:
    return (command.help or "").strip().partition("\n")[0]
