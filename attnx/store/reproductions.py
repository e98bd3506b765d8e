"""Reproductions on disk: page, Markdown and JSON in one folder."""

from __future__ import annotations

from pathlib import Path

from ..disk import written_aside
from ..results.reproduction import Reproduction


def write_reproduction(found: Reproduction, root: Path) -> Path:
    """Write a reproduction in the place of the last one of this experiment and size."""
    final = root / f"{found.experiment}-{found.size}"
    with written_aside(final) as folder:
        (folder / "reproduction.json").write_text(found.to_json(), encoding="utf-8")
        (folder / "reproduction.md").write_text(found.to_markdown(), encoding="utf-8")
        (folder / "reproduction.html").write_text(found.to_html(), encoding="utf-8")
    return final
