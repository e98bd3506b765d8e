"""Which architectures work, and how far."""

from __future__ import annotations

from pathlib import Path

import pytest
from architectures import (
    DECODERS,
    ENCODERS,
    EVERYTHING,
    NO_ATTENTION,
    NO_LAYERS,
    save_tiny,
    table,
    what_works,
)

from attnx.plugin import UsageError
from attnx_transformers.checkpoints import quiet
from attnx_transformers.options import WITHOUT_ATTENTION, HfClassifierOptions

DOCS = Path(__file__).parents[3] / "docs" / "transformers.md"


@pytest.mark.parametrize(
    "name", ["deberta", "deberta-v2", "mpnet", "xlnet", "big_bird", "funnel", "squeezebert", "longformer"]
)
def test_without_readable_attention_everything_else_works(name: str) -> None:
    assert what_works(name, "hf-classifier") == NO_ATTENTION
    assert what_works(name, "hf") == NO_LAYERS


def test_a_model_that_padding_changes_is_run_without_any() -> None:
    assert what_works("nystromformer", "hf-classifier") == NO_ATTENTION


@pytest.mark.parametrize("name", ["roberta", "modernbert", "qwen3"])
def test_readable_attention_is_read(name: str) -> None:
    assert what_works(name, "hf-classifier") == EVERYTHING


@pytest.mark.parametrize("name", ["esm", "ibert", "t5"])
def test_what_cannot_be_run_is_refused_in_one_line(name: str) -> None:
    said = what_works(name, "hf-classifier")
    assert said.startswith("refused: ")
    assert "\n" not in said


def test_what_is_not_on_the_list_is_refused_with_the_option_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_models import make

    with quiet():
        save_tiny("rembert", "hf-classifier", tmp_path)
    assert not HfClassifierOptions(checkpoint=str(tmp_path)).reads_attention
    monkeypatch.setattr("attnx_transformers.options.WITHOUT_ATTENTION", frozenset[str]())
    with pytest.raises(UsageError, match=r"weights cannot be read\. Give attention=none"):
        make("classifier", tmp_path)
    assert "attention" not in make("classifier", tmp_path, attention="none").provides


def test_architectures_without_attention_are_all_in_the_table() -> None:
    assert {*ENCODERS, *DECODERS} >= WITHOUT_ATTENTION


@pytest.mark.slow
def test_the_table_of_the_docs_is_what_works() -> None:
    assert table() in DOCS.read_text(encoding="utf-8")
