"""A checkpoint answers every text as `transformers.pipeline` does, whatever its tokenizer."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from raw_checkpoints import KINDS, LONGEST, TEXTS, save_raw
from tiny_checkpoints import data as words_alone
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer, pipeline

from attnx.data.loading import load_data
from attnx.plugin import Batch, Source, TaskData
from attnx.request.spec import Limit
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.testing import results
from attnx.testing.model_laws import ModelOnTask
from attnx.testing.toy import ToySoftmax
from attnx_erasure.deletion import logits_without_each
from attnx_texts.options import CsvOptions
from attnx_texts.own_files import CsvFiles
from attnx_transformers.causal import HfCausal
from attnx_transformers.checkpoints import quiet
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.encoder import HfEncoder
from attnx_transformers.options import HfCausalOptions, HfClassifierOptions, HfOptions

LABELS = ("LABEL_0", "LABEL_1")
CLOSE = 1e-4  # another word changes a logit by far more, the last bits of a product by less
Folder = Callable[[str], Path]


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> TaskData:
    """Awkward texts in a CSV file, loaded as for a model that reads them as they are written."""
    return _loaded(tmp_path_factory.mktemp("texts") / "texts.csv", TEXTS)


def _loaded(path: Path, given: Sequence[str], queries: Sequence[str] = ()) -> TaskData:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label", "asked"])
        for number, text in enumerate(given):
            writer.writerow([text, LABELS[number % 2], queries[number] if queries else ""])
    options = CsvOptions(train=path, dev=path, test=path, query="asked" if queries else "")
    return load_data(CsvFiles(options), Source(), Limit(), raw_text=True)


def _classifier(folder: Path, on: TaskData, **options: Any) -> HfClassifier:
    made = HfClassifierOptions(checkpoint=str(folder), **options)
    return HfClassifier.build(on, ToySoftmax(), made).eval()


def _logits(model: Any, on: TaskData) -> np.ndarray[Any, Any]:
    with evaluating(model):
        found: np.ndarray[Any, Any] = trace_of(model, model.encode(on.test)).logits.double().numpy()
    return found


def _of_pipeline(folder: Path, inputs: Sequence[Any], **settings: Any) -> np.ndarray[Any, Any]:
    with quiet():
        ask = pipeline("text-classification", str(folder), top_k=None, function_to_apply="none", **settings)
        answers = [ask([given])[0] for given in inputs]
    rows = [{answer["label"]: answer["score"] for answer in row} for row in answers]
    return np.array([[row[label] for label in LABELS] for row in rows])


def _ids(batch: Batch, row: int) -> list[int]:
    pieces = batch.inputs[row, :, :-1]
    found: list[int] = pieces[pieces >= 0].tolist()
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_those_of_the_pipeline(kind: str, raw: Folder, texts: TaskData) -> None:
    model = _classifier(raw(kind), texts)
    expected = _of_pipeline(raw(kind), TEXTS)
    np.testing.assert_allclose(_logits(model, texts), expected, atol=CLOSE, rtol=CLOSE)
    assert np.ptp(expected, axis=0).min() > 0.5  # the texts are not all the same to it


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_those_of_the_tokenizer_in_their_order(kind: str, raw: Folder, texts: TaskData) -> None:
    batch = _classifier(raw(kind), texts).encode(texts.test)
    tokenizer = AutoTokenizer.from_pretrained(raw(kind))
    assert [_ids(batch, row) for row in range(len(TEXTS))] == [tokenizer(text)["input_ids"] for text in TEXTS]


def test_units_are_the_characters_of_the_text(texts: TaskData) -> None:
    for example, text in zip(texts.test, TEXTS, strict=True):
        assert example.text == text
        assert example.starts is not None
        for unit, start in zip(example.units, example.starts, strict=True):
            assert text[start : start + len(unit)] == unit
    assert texts.test[0].units[:8] == ("Do", "n't", "panic", ":", "it", "'s", "FINE", "…")


@pytest.mark.parametrize("kind", KINDS)
def test_the_laws_are_kept(kind: str, raw: Folder, texts: TaskData) -> None:
    subject = ModelOnTask(_classifier(raw(kind), texts), texts)
    assert [str(result) for result in results("model", subject, kind) if result.failure] == []


@pytest.mark.parametrize(
    "kind", ["bert, cased", "roberta", "albert", "xlnet", "llama", "xlm-roberta", "deberta-v2"]
)
def test_pairs_are_read_as_the_pipeline_reads_them(kind: str, raw: Folder, tmp_path: Path) -> None:
    asked = [f"Is it {text[:20]}?" for text in reversed(TEXTS)]
    on = _loaded(tmp_path / "pairs.csv", TEXTS, asked)
    pairs = [{"text": text, "text_pair": query} for text, query in zip(TEXTS, asked, strict=True)]
    ours = _logits(_classifier(raw(kind), on), on)
    np.testing.assert_allclose(ours, _of_pipeline(raw(kind), pairs), atol=5 * CLOSE, rtol=CLOSE)


@pytest.mark.parametrize("kind", ["bert, uncased", "roberta", "albert", "gpt2", "xlnet", "llama"])
def test_a_long_text_is_cut_where_the_pipeline_cuts_it(kind: str, raw: Folder, tmp_path: Path) -> None:
    long = [" ".join(TEXTS), "one two three " * LONGEST]
    on = _loaded(tmp_path / "long.csv", long)
    expected = _of_pipeline(raw(kind), long, truncation=True)
    np.testing.assert_allclose(_logits(_classifier(raw(kind), on), on), expected, atol=CLOSE, rtol=CLOSE)


@pytest.mark.parametrize(
    "kind", ["bert, uncased", "roberta", "albert", "gpt2", "deberta-v2", "llama", "longformer"]
)
def test_deleting_a_word_deletes_its_pieces(kind: str, raw: Folder, texts: TaskData) -> None:
    model = _classifier(raw(kind), texts)
    stock = AutoModelForSequenceClassification.from_pretrained(raw(kind)).eval()
    compared = 0
    with evaluating(model):
        trace = trace_of(model, model.encode(texts.test))
        without = logits_without_each(model, trace)
    several = [row for row in range(len(TEXTS)) if int(trace.batch.mask[row].sum()) > 1]
    for row in several[::3]:
        for column in trace.batch.mask[row].nonzero()[:, 0].tolist():
            kept = [at for at in range(int(trace.batch.lengths[row])) if at != column]
            ids = trace.batch.inputs[row, kept, :-1]
            with torch.no_grad(), quiet():
                expected = stock(input_ids=ids[ids >= 0].long()[None]).logits[0]
            torch.testing.assert_close(without[row, column], expected, atol=1e-4, rtol=1e-4)
            compared += 1
    assert compared > 30


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_language_model_reads_the_prompt_as_it_is_written(
    kind: str, tmp_path: Path, texts: TaskData
) -> None:
    folder = save_raw(kind, tmp_path / "causal", causal=True)
    template = "Review: {text}\nIt is"
    options = HfCausalOptions(
        checkpoint=str(folder), template=template, labels=("dull", "one"), length="first"
    )
    model = HfCausal.build(texts, ToySoftmax(), options).eval()
    stock = AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ours, batch = _logits(model, texts), model.encode(texts.test)
    for row, text in enumerate(TEXTS):
        prompt = tokenizer(template.replace("{text}", text), return_tensors="pt")
        if prompt.input_ids.shape[1] > LONGEST:
            continue  # a pipeline does not cut prompts
        assert _ids(batch, row) == prompt.input_ids[0].tolist()
        with torch.no_grad():
            expected = stock(**prompt).logits[0, -1, [answer[0] for answer in model.answers.ids]]
        np.testing.assert_allclose(ours[row], expected, atol=CLOSE, rtol=CLOSE)


@pytest.mark.parametrize("kind", ["bert, cased", "roberta", "albert", "longformer", "mpnet"])
def test_states_of_an_encoder_are_those_of_the_pipeline(kind: str, raw: Folder, texts: TaskData) -> None:
    options = HfOptions(checkpoint=str(raw(kind)), pieces="first")
    model = HfEncoder.build(texts, ToySoftmax(), options).eval()
    _compare_states(model, raw(kind), texts)


def _compare_states(model: HfEncoder, folder: Path, on: TaskData) -> None:
    with quiet():
        ask = pipeline("feature-extraction", str(folder))
        states = [np.array(ask(text)[0]) for text in TEXTS]  # each [T, H]
    with evaluating(model):
        trace = trace_of(model, model.encode(on.test))
    counts = (trace.batch.inputs[..., :-1] >= 0).sum(-1)  # [B, L] pieces of each column
    for row, expected in enumerate(states):
        for column in trace.batch.mask[row].nonzero()[:, 0].tolist():
            first = int(counts[row, :column].sum())
            np.testing.assert_allclose(trace.hidden[row, column], expected[first], atol=2e-5, rtol=1e-4)


def test_a_task_without_raw_texts_is_read_as_its_words_joined_by_spaces(raw: Folder) -> None:
    on = words_alone("one two three", "the best of films")
    model = _classifier(raw("roberta"), on, labels=LABELS)
    expected = _of_pipeline(raw("roberta"), [" ".join(example.units) for example in on.test])
    np.testing.assert_allclose(_logits(model, on), expected, atol=CLOSE, rtol=CLOSE)


@pytest.fixture(scope="session")
def minilm_classifier(minilm: Source, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MiniLM with a head of random weights."""
    folder = tmp_path_factory.mktemp("minilm")
    torch.manual_seed(0)
    with quiet():
        model = AutoModelForSequenceClassification.from_pretrained(minilm.fetch("minilm").folder)
        torch.nn.init.normal_(model.classifier.weight)
        model.save_pretrained(folder)
        AutoTokenizer.from_pretrained(minilm.fetch("minilm").folder).save_pretrained(folder)
    return folder


def test_minilm_answers_as_in_the_pipeline(minilm_classifier: Path, texts: TaskData) -> None:
    ours = _logits(_classifier(minilm_classifier, texts), texts)
    np.testing.assert_allclose(ours, _of_pipeline(minilm_classifier, TEXTS), atol=CLOSE, rtol=CLOSE)


def test_states_of_minilm_are_those_of_the_pipeline(minilm: Source, texts: TaskData) -> None:
    on = replace(texts, source=minilm)
    model = HfEncoder.build(on, ToySoftmax(), HfOptions(checkpoint="minilm", pieces="first")).eval()
    _compare_states(model, minilm.fetch("minilm").folder, on)
