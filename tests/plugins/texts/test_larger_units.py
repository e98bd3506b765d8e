"""Tasks whose units are sentences or paragraphs, and questions about a context."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_checkpoints import save

import attnx
from attnx.plugin import Source, UsageError
from attnx_questions.generated import GeneratedStories
from attnx_questions.options import GeneratedOptions
from attnx_texts.options import CsvOptions
from attnx_texts.own_files import CsvFiles

ROWS = (
    ("One two. Three four!", "Is it one?", "yes"),
    ("Five is it. A one\n\ntwo three.", "Is it two?", "no"),
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    lines = [",".join(f'"{cell}"' for cell in row) for row in ROWS * 2]
    (tmp_path / "a.csv").write_text("\n".join(["context,question,answer", *lines]) + "\n")
    return tmp_path / "a.csv"


def _load(file: Path, **options: Any) -> Any:
    asked = CsvOptions(test=file, context="context", question="question", label="answer", **options)
    return CsvFiles(asked).load(Source(raw_text=True)).test


def test_sentences_of_a_context_are_units_with_their_question(table: Path) -> None:
    first, second, *_ = _load(table, units="sentences")
    assert first.units == ("One two.", "Three four!")
    assert second.units == ("Five is it.", "A one", "two three.")
    assert first.query_text == "Is it one?"
    for example in (first, second):
        assert all(
            example.text[start:].startswith(unit)
            for unit, start in zip(example.units, example.starts, strict=True)
        )


def test_paragraphs_are_units(table: Path) -> None:
    assert [len(example.units) for example in _load(table, units="paragraphs")] == [1, 2, 1, 2]


def test_a_context_is_a_text_by_another_name(table: Path) -> None:
    named = CsvOptions(test=table, text="context", query="question", label="answer")
    plain = CsvFiles(named).load(Source(raw_text=True)).test
    assert plain == _load(table)
    assert named.also_needs == ("reads-query",)


def test_a_model_of_words_cannot_read_sentences(table: Path) -> None:
    with pytest.raises(UsageError, match="reads texts as their files have them"):
        attnx.evaluate(
            f"csv:file={table},text=context,label=answer,units=sentences", "bilstm-add", progress=False
        )


def test_generated_stories_mark_their_supporting_sentences() -> None:
    words, sentences = (
        GeneratedStories(GeneratedOptions(facts=2, train=6, dev=6, test=12, units=units)).load(Source())
        for units in ("words", "sentences")
    )
    for one, other in zip(words.test, sentences.test, strict=True):
        assert " ".join(one.units) == " ".join(other.units) == other.text
        assert all(unit.endswith(" .") for unit in other.units)
        assert sum(other.rationale) == 2
        marked = [word for word, mark in zip(one.units, one.rationale, strict=True) if mark]
        chosen = [unit for unit, mark in zip(other.units, other.rationale, strict=True) if mark]
        assert " ".join(chosen).replace(" .", "") == " ".join(marked)


def test_a_report_calls_its_units_sentences(table: Path, tmp_path: Path) -> None:
    template = "{text} is it {query}"
    model = f"hf-causal:checkpoint={save('llama', tmp_path / 'lm')},template={template},labels=no+yes"
    task = f"csv:test={table},context=context,question=question,label=answer,units=sentences"
    report = attnx.evaluate(
        task,
        model,
        explanations=["loo"],
        metrics=["comprehensiveness"],
        training={"epochs": 0},
        progress=False,
    )
    assert report.unit == "sentence"
    assert "deleting sentences" in report.to_text() or "sentence" in report.to_html()
