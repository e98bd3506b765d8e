"""Two texts a label: SNLI, and any file with a column for the query."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from text_loading import SHARED, everything, load, write, write_csv, write_jsonl

from attnx import DataError, UsageError, evaluate

ROWS = [
    {"premise": "Two men play.", "hypothesis": "Men play.", "label": "entailment"},
    {"premise": "Two men play.", "hypothesis": "Men sleep.", "label": "contradiction"},
    {"premise": "Two men play.", "hypothesis": "Tall men play.", "label": "neutral"},
]
OFFICIAL = [
    {"sentence1": row["premise"], "sentence2": row["hypothesis"], "gold_label": row["label"]} for row in ROWS
]


def test_the_premise_is_attended_and_the_hypothesis_asks(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        write_jsonl(tmp_path / f"{split}.jsonl", ROWS)
    first = load("snli", tmp_path).train[0]
    assert (first.units, first.query) == (("two", "men", "play", "."), ("men", "play", "."))
    turned = load("snli", tmp_path, units="hypothesis").train[0]
    assert (turned.units, turned.query) == (first.query, first.units)


def test_the_authors_own_files_are_read_and_undecided_pairs_passed_over(tmp_path: Path) -> None:
    undecided = {**OFFICIAL[0], "gold_label": "-"}
    for split in ("train", "dev", "test"):
        write_jsonl(tmp_path / f"snli_1.0_{split}.jsonl", [undecided, *OFFICIAL])
    data = load("snli", tmp_path)
    assert [example.label for example in data.train] == [0, 2, 1]
    assert data.min_count == 3


@pytest.mark.skipif(not (SHARED / "data" / "snli").is_dir(), reason="no published files here")
def test_the_published_dev_and_test_pairs_are_all_read(tmp_path: Path) -> None:
    for split, file in (("train", "dev"), ("dev", "dev"), ("test", "test")):  # there is no train file here
        rows = gzip.decompress((SHARED / "data" / "snli" / f"{file}.jsonl.gz").read_bytes())
        (tmp_path / f"{split}.jsonl").write_bytes(rows)
    data = load("snli", tmp_path)
    assert (len(data.dev), len(data.test)) == (9_842, 9_824)
    assert all(example.query for example in everything(data))


def table(tmp_path: Path) -> Path:
    rows = [(f"word{i % 3} b c", "where is it", "yn"[i % 2]) for i in range(40)]
    return write_csv(tmp_path / "mine.csv", [("answer", "question", "label"), *rows])


def test_any_two_columns_are_a_task_with_a_query(tmp_path: Path) -> None:
    data = load("csv", file=table(tmp_path), text="answer", query="question")
    assert {example.query for example in everything(data)} == {("where", "is", "it")}
    rows = [{"text": "a b", "about": ["What", "now"], "label": i % 2} for i in range(20)]
    data = load("jsonl", file=write_jsonl(tmp_path / "mine.jsonl", rows), query="about")
    assert data.train[0].query == ("what", "now")


def test_a_query_that_is_missing_or_empty_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'questoin'\. Did you mean 'question'.*Choose one with query="):
        load("csv", file=table(tmp_path), text="answer", query="questoin")
    rows = [{"text": "a", "about": "", "label": 0}]
    with pytest.raises(DataError, match="line 1: the query holds no word"):
        load("jsonl", file=write(tmp_path / "no.jsonl", json.dumps(rows[0])), query="about")


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("text=a,query=a", "text, label and query must be different columns"),
        ("text=label", "text, label and query must be different columns"),
        ("query=label", "text, label and query must be different columns"),
        ("text=a,context=b", "text and context are two names of one option"),
        ("query=a,question=b", "query and question are two names of one option"),
    ],
)
def test_a_column_with_two_roles_and_a_role_with_two_columns_are_refused(columns: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        evaluate(f"csv:file=mine.csv,{columns}", "bilstm-add", progress=False)


def test_a_model_that_cannot_read_the_query_is_refused(tmp_path: Path) -> None:
    task = f"csv:file={table(tmp_path)},text=answer,query=question"
    with pytest.raises(UsageError, match="needs a model that reads the query") as refused:
        evaluate(task, "fcam-words", progress=False)
    assert "bilstm" in str(refused.value)
    report = evaluate(
        task,
        "bilstm:hidden=4,embedding=4",
        metrics=["permutation", "adversarial-attention:steps=3", "kendall", "comprehensiveness"],
        references=["loo", "gradient"],
        training={"epochs": 1},
        out=tmp_path / "runs",
        progress=False,
    )
    assert len({s.metric for s in report.summaries}) == 4
