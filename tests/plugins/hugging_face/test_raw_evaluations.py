"""Checkpoints on raw texts, from the request to the report, the explanation and the comparison."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from raw_checkpoints import save_raw

import attnx

LABELS = "labels=LABEL_0+LABEL_1"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of texts with capitals, contractions and numbers."""
    rng = random.Random(0)
    lines = ["text,label"]
    for number in range(60):
        words = rng.choices(["The", "film", "isn't", "BOLD", "in", "1999", "It's", "dull…"], k=6)
        lines.append(f"{' '.join(words)} {'worst' if number % 2 else 'best'},{'no' if number % 2 else 'yes'}")
    path = tmp_path_factory.mktemp("written") / "written.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("checkpoints")
    return {kind: save_raw(kind, root / kind) for kind in ("deberta-v2", "roberta")}


def test_a_model_without_readable_attention_gets_everything_else(
    written: Path, folders: dict[str, Path]
) -> None:
    report = attnx.evaluate(
        f"csv:file={written}",
        f"hf-classifier:checkpoint={folders['deberta-v2']},{LABELS}",
        explanations=["gradient", "loo", "integrated-gradients"],
        references=["loo"],
        metrics=["comprehensiveness", "sufficiency", "kendall"],
        training={"epochs": 0},
        progress=False,
    )
    explained = {s.explanation for s in report.summaries if s.metric == "comprehensiveness"}
    assert explained >= {"gradient", "loo", "integrated-gradients"}
    assert any("lower-casing is not applied" in str(warning) for warning in report.warnings)
    assert report.examples().units[0][0][0].isupper()
    with pytest.raises(attnx.UsageError, match="attention"):
        attnx.evaluate(
            f"csv:file={written}",
            f"hf-classifier:checkpoint={folders['deberta-v2']},{LABELS}",
            explanations=["attention"],
            progress=False,
        )


def test_the_usual_explanation_of_such_a_model_is_not_attention(
    written: Path, folders: dict[str, Path], cli: Any
) -> None:
    model = f"hf-classifier:checkpoint={folders['deberta-v2']},{LABELS}"
    task = f"csv:file={written}"
    code, out, err = cli("evaluate", "--task", task, "--model", model, "--train", "epochs=0", "--limit", "10")
    assert code == 0, err
    assert "gradient" in out


def test_a_run_on_raw_texts_is_compared_with_one_on_words(written: Path, folders: dict[str, Path]) -> None:
    settings: dict[str, Any] = {"metrics": ["comprehensiveness"], "explanations": ["loo"], "progress": False}
    task = f"csv:file={written},digits=qqq"
    raw = attnx.evaluate(
        task, f"hf-classifier:checkpoint={folders['roberta']},{LABELS}", training={"epochs": 0}, **settings
    )
    words = attnx.evaluate(task, "bilstm:hidden=4,embedding=4", training={"epochs": 1}, **settings)
    assert words.examples().units != raw.examples().units
    assert attnx.compare(raw, words).examples == len(words.examples()) > 3


def test_an_explained_text_is_shown_as_it_was_given(
    written: Path, folders: dict[str, Path], tmp_path: Path
) -> None:
    report = attnx.evaluate(
        f"csv:file={written}",
        f"hf-classifier:checkpoint={folders['roberta']},{LABELS}",
        metrics=["entropy"],
        training={"epochs": 0},
        progress=False,
        out=tmp_path,
    )
    found = attnx.load(tmp_path / report.fingerprint).explain("It ISN'T <b>bold</b>…", ["attention"])
    assert found.units == ("It", "IS", "N'T", "bold", "…")
