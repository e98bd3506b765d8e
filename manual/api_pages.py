"""The reference of the public names, from their docstrings."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

ROOMS = {
    "attnx": "What a user calls, and the reports that come back.",
    "attnx.components": "What is installed: components, named models, experiments and plugins.",
    "attnx.runs": "What is stored: runs, studies and weights.",
    "attnx.datasets": "Datasets: list, locate, fetch, delete.",
    "attnx.results": "Every record inside a report.",
    "attnx.plugin": "What the author of a plugin imports.",
    "attnx.formulas": "The mathematics that components share.",
    "attnx.testing": "The conformance tests of components.",
}


def api_pages() -> Iterator[tuple[str, str]]:
    """One page per public module: every name of its `__all__`."""
    for room, about in ROOMS.items():
        names = import_module(room).__all__
        lines = [f"# {room}", "", about, ""]
        for name in names:
            lines += [f"::: {room}.{name}", ""]
        yield (
            f"reference/api/{room.replace('attnx.', '') if room != 'attnx' else 'attnx'}.md",
            "\n".join(lines),
        )
