"""Graded shares of attention next to the older measures."""

from __future__ import annotations

import json

from attnx.views.terminal.reproduction import short

from .results import ROOT, Stored

SHARES = ROOT / "docs" / "data" / "shares.json"
MODELS = ("bilstm-add", "cnn-add", "average-add")
# Experiment and column of what the papers measure, by what the table calls it.
MEASURES = {
    "τ with gradients": ("jain-wallace-table-2", "attention-gradient"),
    "τ with leave-one-out": ("jain-wallace-table-2", "attention-loo"),
    "output change when permuted": ("jain-wallace-permutation", "median change"),
}


def shares_table(stored: Stored) -> str:
    """One line for every model on SST: shares, the grade of attention, and what the papers measured."""
    known = {
        (one["model"], one["explanation"]): one
        for one in json.loads(SHARES.read_text(encoding="utf-8"))
        if one["task"] == "sst"
    }
    head = ["model on SST", "share of attention", "grade", "share of leave-one-out", *MEASURES]
    lines = [f"| {' | '.join(head)} |", "| --- | ---: | --- | ---: |" + " ---: |" * len(MEASURES)]
    for model in MODELS:
        attention, loo = known[model, "attention"], known[model, "loo"]
        cells = [model, _share(attention), attention["grade"], _share(loo)]
        for experiment, column in MEASURES.values():
            value = stored.value(experiment, f"sst {model}", column)
            cells.append("" if value is None or value.mean is None else short(value.mean, 2))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(one: dict[str, float]) -> str:
    return f"{short(one['share'], 2)} [{short(one['low'], 2)}, {short(one['high'], 2)}]"
