"""Writes docs/peers.md, the metrics and methods of other tools next to ours, from docs/data/peers.yaml.

Run `python docs/data/peers.py` after a change of either; a test compares the page with what this writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from attnx.host.catalog import Catalog

HERE = Path(__file__).parent
PAGE = HERE.parent / "peers.md"
KINDS = {"metric": "metric", "method": "importance"}


def read() -> dict[str, Any]:
    """The introduction, and the tools with everything they offer."""
    found: dict[str, Any] = yaml.safe_load((HERE / "peers.yaml").read_text(encoding="utf-8"))
    return found


def unknown_names(catalog: Catalog) -> list[str]:
    """The names of ours that are not installed."""
    return [
        f"{peer['name']} {entry['name']}: {name}"
        for peer in read()["peers"]
        for entry in peer["entries"]
        for name in entry.get("ours", ())
        if (KINDS[entry["kind"]], name) not in catalog.components
    ]


def page() -> str:
    """The whole page."""
    lines = [read()["intro"]]
    for peer in read()["peers"]:
        total = sum(len(entry["name"].split(", ")) for entry in peer["entries"])
        have = sum(len(entry["name"].split(", ")) for entry in peer["entries"] if entry.get("ours"))
        lines += [
            f"## {peer['name']}\n",
            f"Version {peer['version']}, licence {peer['licence']}. Checked: {peer['checked']}. "
            f"{have} of {total} have a counterpart here.\n",
            "| theirs | group | ours | note |",
            "| --- | --- | --- | --- |",
            *(_row(entry) for entry in peer["entries"]),
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _row(entry: dict[str, Any]) -> str:
    ours = ", ".join(f"`{name}`" for name in entry.get("ours", ())) or "–"
    theirs = ", ".join(f"`{name}`" for name in entry["name"].split(", "))
    return f"| {theirs} | {entry['kind']}, {entry['group']} | {ours} | {entry.get('why', '')} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
