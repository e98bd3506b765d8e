"""Every encoder and scorer that reads a query, under every metric of a plain run, on stories and pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import attnx
from attnx.host.catalog import Catalog

CATALOG = Catalog.installed()
COMPONENTS = [component for plugin in CATALOG.plugins for component in plugin.components]
READERS = {  # those that train from nothing: pretrained ones have tests of their own
    c.name: {*c.provides}
    for c in COMPONENTS
    if c.kind == "model"
    and {"reads-query", "words"} <= {*c.provides, *c.needs}
    and "unseen-words" not in c.provides
}
GIVEN = {"reference", "rationale"}  # by the run, and by stories; the rest a model must give
PLAIN = {c.name: {*c.needs} for c in COMPONENTS if c.kind == "metric" and c.card.plain}
SHORT = {"adversarial-attention": "adversarial-attention:steps=3"}


def plain_run(task: str, model: str, metrics: set[str], **given: Any) -> set[str]:
    """The metrics of which there is a value."""
    report = attnx.evaluate(
        task,
        model,
        metrics=[SHORT.get(name, name) for name in sorted(metrics)],
        training={"epochs": 0},
        progress=False,
        fresh=True,
        keep="none",
        **given,
    )
    return {s.metric.partition(":")[0] for s in report.summaries if s.group == "all" and s.mean is not None}


@pytest.mark.parametrize("scorer", ["additive", "dot", "deep"])
@pytest.mark.parametrize("encoder", sorted(READERS))
def test_every_reader_of_questions_takes_every_test_of_a_plain_run(encoder: str, scorer: str) -> None:
    applies = {name for name, needs in PLAIN.items() if needs <= GIVEN | READERS[encoder]}
    assert "adversarial-attention" in applies
    stories = "babi-generated:facts=1,sentences=4,train=12,dev=6,test=6"
    assert plain_run(stories, f"{encoder}:hidden=8,embedding=8,scorer={scorer}", applies) == applies


ROWS = [
    {"premise": f"two {who} play now", "hypothesis": f"{who} {what}", "label": label}
    for who in ("men", "women")
    for what, label in (("play", "entailment"), ("sleep", "contradiction"), ("laugh", "neutral"))
]


@pytest.mark.parametrize("task", ["snli", "csv:file=pairs.csv,text=premise,query=hypothesis"])
def test_pairs_take_every_test_of_a_plain_run(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "snli").mkdir()
    for split in ("train", "dev", "test"):
        lines = "\n".join(json.dumps(row) for row in ROWS)
        (tmp_path / "snli" / f"{split}.jsonl").write_text(lines + "\n")
    table = ["premise,hypothesis,label", *(",".join(row.values()) for row in ROWS * 4)]
    (tmp_path / "pairs.csv").write_text("\n".join(table) + "\n")
    pairs = {name for name, needs in PLAIN.items() if needs <= {"reference"} | READERS["bilstm"]}
    model = "bilstm:hidden=4,embedding=4,min_count=1"
    assert plain_run(task, model, pairs, data_dir=tmp_path, limit="test=4") == pairs
