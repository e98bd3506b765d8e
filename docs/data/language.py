"""Writes the tables of docs/language-models.md from the stored results in docs/data/language.

Run `python docs/data/language.py` after a change; a test compares the page with what this writes.
`python docs/data/language.py store NAME FOLDER` stores what the tables need of a run, a study, or a run on
stories (NAME begins with stories), first.
"""

from __future__ import annotations

import json
import re
import sys
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
    for name in ("heads-sst", "heads-rotten-tomatoes"):
        text = _put(text, name, heads(stored(name)))
    text = _put(text, "stories", stories(stored("stories-smollm2")))
    return _put(text, "memory", memory(stored("memory")))


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
    quality, texts = report["quality"][0], report["costs"][0]["examples"]
    said = (
        f"Accuracy {quality['accuracy']:.3f} on {texts} texts (always the most frequent label: "
        f"{quality['majority']:.3f}); explanations on all of them."
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


def stories(run: Any) -> list[str]:
    """How often each explanation finds the supporting sentence."""
    quality = run["quality"][0]
    said = (
        f"Accuracy {quality['accuracy']:.3f} on {run['stories']} stories (always the most frequent answer: "
        f"{quality['majority']:.3f})."
    )
    rows = [[name, f"{found['first']:.0%}", f"{found['right']:.0%}"] for name, found in run["found"].items()]
    rows.append(["chance", f"{run['chance']:.0%}", f"{run['chance']:.0%}"])
    head = ("explanation", "supporting sentence has the highest score", "of correct answers alone")
    return [said, "", *table(head, rows)]


def memory(measured: Any) -> list[str]:
    """MB of one layer and of all."""
    one, every = measured["megabytes"]["one layer"], measured["megabytes"]["all layers"]
    rows = []
    for pieces, ours in one.items():
        whole = f"{every[pieces]:.0f} MB" if pieces in every else "not measured"
        rows.append([pieces, f"{ours:.0f} MB", whole])
    said = (
        f"Extra memory of one pass over one text, a decoder of {measured['layers']} layers of "
        f"{measured['heads']} heads with {measured['hidden']} dimensions in all, float32, CPU:"
    )
    return [said, "", *table(("pieces", "attention of one layer and position", "all layers and pairs"), rows)]


def store(name: str, folder: Path) -> None:
    """Store what the tables need of a run or a study."""
    file = folder / ("study.json" if name.startswith("heads") else "report.json")
    whole = json.loads(file.read_text(encoding="utf-8"))
    keys = ("spec", "model", "quality", "ranking", "costs", "environment", "findings")
    small = {key: whole[key] for key in keys if key in whole}
    if name.startswith("stories"):
        small = {"spec": whole["spec"], "quality": whole["quality"], **_found(folder)}
    text = json.dumps(small, indent=1, ensure_ascii=False) + "\n"
    (HERE / "language" / f"{name}.json").write_text(text, encoding="utf-8")


def _found(folder: Path) -> dict[str, Any]:
    """How often the top unit of each explanation is in the supporting sentence."""
    import attnx

    run = attnx.load(folder)
    stories = list(run.examples)
    found = {}
    for method in stories[0].seen[0].scores:
        hits = [bool((one.rationale or ())[_top(one.seen[0].scores[method])]) for one in stories]
        among = [hit for hit, one in zip(hits, stories, strict=True) if one.seen[0].correct]
        found[method] = {"first": sum(hits) / len(hits), "right": sum(among) / len(among)}
    chance = [sum(one.rationale or ()) / len(one.units) for one in stories]
    model = run.report.spec.model
    title = str(model.options.get("checkpoint", model.name))
    return {"model": title, "stories": len(stories), "found": found, "chance": sum(chance) / len(chance)}


def _top(scores: Any) -> int:
    """The unit with the highest score."""
    return max(range(len(scores)), key=lambda at: scores[at] or 0.0)


def _interval(one: Any) -> str:
    if one is None:
        return "–"
    return f"{one['mean']:.3f} ({one['low']:.3f}, {one['high']:.3f})"


def _put(text: str, name: str, lines: list[str]) -> str:
    block = "\n".join([f"<!-- {name} -->", "", *lines, "", "<!-- end -->"])
    return re.sub(rf"<!-- {name} -->.*?<!-- end -->", lambda _: block, text, count=1, flags=re.DOTALL)


if __name__ == "__main__":
    if sys.argv[1:2] == ["store"]:
        store(sys.argv[2], Path(sys.argv[3]))
    PAGE.write_text(page(), encoding="utf-8")
