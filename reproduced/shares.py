"""Graded shares of attention next to the older measures, for the same trained models."""

from __future__ import annotations

import json
from typing import Any

from attnx.views.terminal.reproduction import short

from .results import ROOT, Stored

SHARES = ROOT / "docs" / "data" / "shares_of_papers.json"  # measure_shares writes it


def shares_table(stored: Stored) -> str:
    """One line for every model: the share and its grade, and what the papers measured."""
    lines = [
        "| model | attention: share of the way from random to best | grade | loo: share | τ with gradients "
        "| τ with leave-one-out | output changed by permuting |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for row, found in _by_row().items():
        cells = [row, _share(found["attention"]), found["attention"]["grade"], _share(found["loo"])]
        for experiment, column in (
            ("jain-wallace-table-2", "attention-gradient"),
            ("jain-wallace-table-2", "attention-loo"),
            ("jain-wallace-permutation", "median change"),
        ):
            value = stored.value(experiment, row, column)
            cells.append("" if value is None or value.mean is None else short(value.mean, 2))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _by_row() -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for one in json.loads(SHARES.read_text(encoding="utf-8")):
        rows.setdefault(one["row"], {})[one["explanation"]] = one
    return rows


def _share(one: dict[str, Any]) -> str:
    return f"{short(one['share'], 2)} [{short(one['low'], 2)}, {short(one['high'], 2)}]"
