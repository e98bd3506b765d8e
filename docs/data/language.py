"""Writes the tables of docs/language-models.md from the stored results in docs/data/language.

Run `python docs/data/language.py` after a change; a test compares the page with what this writes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from attnx.results.formatting import format_number
from attnx.views.markdown import table

HERE = Path(__file__).parent
PAGE = HERE.parent / "language-models.md"
GRADES = {"unknown": "cannot tell", "random": "no better than random"}
HEAD = ("explanation", "share", "95 % interval", "grade", "passes", "ms for one text")


def page() -> str:
    """The page with its tables as the stored results have them."""
    text = PAGE.read_text(encoding="utf-8")
    for name in ("sst", "rotten-tomatoes"):
        text = _put(text, name, ranking(stored(name)))
    return _put(text, "heads", heads(stored("heads-sst")))


def stored(name: str) -> Any:
    """What was measured, as it was stored."""
    return json.loads((HERE / "language" / f"{name}.json").read_text(encoding="utf-8"))


def ranking(report: Any) -> list[str]:
    """The explanations of a run from the best to the worst, with their cost."""
    cost = {one["method"]: one for one in report["costs"]}
    rows = []
    for one in report["ranking"]:
        spent = cost[one["explanation"]]
        rows.append(
            [
                one["explanation"],
                f"{one['share']:.0%}",
                f"{one['low']:.0%} to {one['high']:.0%}",
                GRADES.get(one["grade"], one["grade"]),
                format_number(spent["passes"]),
                f"{1000 * spent['seconds'] / spent['examples']:.0f}",
            ]
        )
    quality, sample = report["quality"][0], report["sample"]
    said = (
        f"Accuracy {quality['accuracy']:.3f} on {sample['of']} texts (always the most frequent label: "
        f"{quality['majority']:.3f}); explanations on {sample['examples']} of them, drawn at random."
    )
    return [said, "", *table(HEAD, rows)]


def heads(study: Any) -> list[str]:
    """The share of each head on dev and on test."""
    share = {one["setting"]: one for one in study["findings"] if one["measure"].startswith("share")}
    moved = {one["setting"]: one for one in study["findings"] if not one["measure"].startswith("share")}
    names = list(dict.fromkeys(name.rpartition(", ")[0] for name in share))
    rows = []
    for name in names:
        on = [_interval(share.get(f"{name}, {split}")) for split in ("dev", "test")]
        rows.append([name, *on, _interval(moved.get(name))])
    return table(("attention of", "share of the fall on dev", "on test", "change when replaced"), rows)


def _interval(one: Any) -> str:
    if one is None:
        return "–"
    return f"{one['mean']:.3f} ({one['low']:.3f}, {one['high']:.3f})"


def _put(text: str, name: str, lines: list[str]) -> str:
    block = "\n".join([f"<!-- {name} -->", "", *lines, "", "<!-- end -->"])
    return re.sub(rf"<!-- {name} -->.*?<!-- end -->", lambda _: block, text, count=1, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
