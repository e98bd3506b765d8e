"""The Python of the guides runs, and no page has Python that no test runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from documented import ROOT
from transformers import BertConfig, BertForSequenceClassification, TextClassificationPipeline

import attnx

DOCS = ROOT / "docs"
QUICK = {"metrics": "comprehensiveness", "progress": False}  # the pages use the standard tests
evaluate = attnx.evaluate

# Which test runs the Python of a page.
ELSEWHERE = {
    "first_plugin.md": "test_new_package.py",
    "inputs.md": "test_readme.py",
    "newcomer.md": "test_newcomer.py",
    "plugins.md": "test_plugin_guide.py",
    "runs.md": "test_readme.py",
}
# Pages whose Python needs files or machines that a test does not have.
NOT_RUN = {
    "pictures.md": "a folder of the user's own images",
    "report.md": "fields of a stored run, which test_words and tests/results read",
    "sweeps.md": "a Dask cluster; tests/run/test_dask.py starts one",
}
GUIDES = ("compare.md", "gate.md", "reading.md", "use.md")


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", GUIDES)
def test_the_python_of_a_guide_runs(page: str) -> None:
    shared: dict[str, Any] = {}
    for block in blocks(page):
        exec(block, shared)
    assert shared["report"].quality[0].accuracy > 0.5


def test_every_page_with_python_is_run_by_a_test() -> None:
    pages = {path.name for path in DOCS.glob("*.md") if blocks(path.name)}
    known = {*ELSEWHERE, *NOT_RUN, *GUIDES, "start.md"}
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert [page for page in pages - known if page not in tests] == []
    for page, test in ELSEWHERE.items():
        assert page in (Path(__file__).parent / test).read_text(encoding="utf-8")


def tiny_pipeline(names: tuple[str, ...], words: list[str], folder: Path) -> TextClassificationPipeline:
    """A small untrained classifier that knows the words of the page."""
    from transformers import BertTokenizerFast  # type: ignore[attr-defined]

    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    tokenizer = BertTokenizerFast(str(vocabulary))
    config = BertConfig(
        vocab_size=len(words) + 5, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=64, id2label=dict(enumerate(names)),
        label2id={name: number for number, name in enumerate(names)},
    )  # fmt: skip
    return TextClassificationPipeline(
        model=BertForSequenceClassification(config).eval(), tokenizer=tokenizer, top_k=None
    )


def test_the_four_inputs_of_the_first_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in as many lines as the page says, here with one quick metric on few texts."""
    monkeypatch.chdir(ROOT)
    reports = []

    def quick(task: Any, model: Any) -> Any:
        reports.append(evaluate(task[:40], model, **QUICK))
        return reports[-1]

    monkeypatch.setattr(attnx, "evaluate", quick, raising=False)
    shared: dict[str, Any] = {}
    lines = []
    for block in blocks("start.md"):
        if "pipeline(" in block:
            frame = shared["frame"]
            words = sorted({word for text in frame.text for word in text.split()})
            made = tiny_pipeline(tuple(sorted(set(frame.label))), words, tmp_path)
            monkeypatch.setattr("transformers.pipeline", lambda *_, made=made, **__: made)
        if "attnx.evaluate" in block:
            lines.append(len([line for line in block.splitlines() if line.strip()]))
        exec(block, shared)
    assert lines == [4, 4, 3]
    assert [len(report.examples()) for report in reports] == [40, 40, 40]
