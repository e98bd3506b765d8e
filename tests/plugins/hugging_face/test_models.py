"""Hugging Face models keep the laws, and say what transformers says of the same text."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_checkpoints import SENTENCES, data, save, tokenizer
from torch import Tensor
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSequenceClassification

from attnx.formulas import Randomness
from attnx.formulas.chunks import smaller_passes
from attnx.plugin import Model, TaskData
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import counted_passes, trace_of
from attnx.testing import results
from attnx.testing.model_laws import ModelOnTask
from attnx.testing.toy import ToySoftmax
from attnx_erasure.deletion import logits_without_each
from attnx_gradient.gradient import Gradient
from attnx_gradient.options import GradientOptions
from attnx_transformers.causal import HfCausal
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.encoder import HfEncoder
from attnx_transformers.options import HfCausalOptions, HfClassifierOptions, HfOptions

KINDS: dict[str, Any] = {
    "encoder": (HfEncoder, HfOptions),
    "language-model": (HfCausal, HfCausalOptions),
    "llama": (HfCausal, HfCausalOptions),
}
CASES = [
    ("encoder", {}),
    ("encoder", {"pieces": "first", "scorer": "dot"}),
    ("classifier", {}),
    ("classifier", {"layer": 0, "query": "mean", "pieces": "first"}),
    ("classifier", {"layer": 1, "head": 2}),
    ("roberta", {"layer": 1}),
    ("distilbert", {"head": 1}),
    ("albert", {"layer": 1}),
    ("decoder-classifier", {"layer": 1}),
    ("language-model", {"layer": 0, "head": 3}),
    ("llama", {"layer": 1}),
]
QUERIES = ("one is", "it", "twotwo is a", "no", "yes it is", "five")


def make(kind: str, folder: Path, on: TaskData | None = None, **options: Any) -> Model:
    model, options_class = KINDS.get(kind, (HfClassifier, HfClassifierOptions))
    torch.manual_seed(0)
    built: Model = model.build(on or data(), ToySoftmax(), options_class(checkpoint=str(folder), **options))
    return built.eval()


@pytest.mark.parametrize(("kind", "options"), CASES, ids=str)
@pytest.mark.parametrize("queries", [(), QUERIES], ids=["text", "text and query"])
def test_the_laws_are_kept(kind: str, options: dict[str, Any], queries: Any, saved: Any) -> None:
    on = data(queries=queries)
    if queries and kind in ("language-model", "llama"):
        options = options | {"template": "{query} is {text} it is"}
    subject = ModelOnTask(make(kind, saved(kind), on, **options), on)
    assert [str(result) for result in results("model", subject, kind) if result.failure] == []


@pytest.mark.parametrize("kind", ["classifier", "roberta", "distilbert", "albert", "decoder-classifier"])
@pytest.mark.parametrize("queries", [(), QUERIES], ids=["text", "text and query"])
def test_logits_are_those_of_the_stock_classifier(kind: str, queries: Any, saved: Any) -> None:
    on = data(queries=queries)
    ours = _logits(make(kind, saved(kind), on), on)
    stock = AutoModelForSequenceClassification.from_pretrained(saved(kind)).eval()
    cut = tokenizer(frame=kind != "decoder-classifier")
    for row, sentence in enumerate(SENTENCES):
        both = [sentence, *([queries[row]] if queries else [])]
        inputs = cut(*both, return_tensors="pt")
        if kind == "distilbert":  # it takes none
            del inputs["token_type_ids"]
        with torch.no_grad():
            expected = stock(**inputs).logits[0]
        torch.testing.assert_close(ours[row], expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", ["encoder", "classifier", "albert", "language-model"])
@pytest.mark.parametrize("attended", [False, True], ids=["own attention", "attention given"])
def test_several_passes_say_what_one_says(
    kind: str, attended: bool, saved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = make(kind, saved(kind))
    model.double()  # random weights multiply the rounding of single precision
    batch = model.encode(data().test)
    uniform = batch.mask.double() / batch.mask.sum(1, keepdim=True)
    found = []
    for positions in (1, 2**11):
        monkeypatch.setattr("attnx_transformers.packing.IN_CACHE", positions)
        with torch.no_grad():
            found.append(model.run(batch, model.embed(batch), attention=uniform if attended else None))
    for name in ("hidden", "attention", "logits"):
        torch.testing.assert_close(getattr(found[0], name), getattr(found[1], name))


@pytest.mark.parametrize("kind", ["language-model", "llama"])
def test_a_language_model_answers_with_the_next_word(kind: str, saved: Any) -> None:
    ours = _logits(
        make(kind, saved(kind), labels=("five", "fourfive"), length="first", template="no {text} yes it"),
        data(),
    )
    stock = AutoModelForCausalLM.from_pretrained(saved(kind)).eval()
    cut = tokenizer(frame=False)
    answers = [cut.convert_tokens_to_ids(word) for word in ("five", "four")]
    for row, sentence in enumerate(SENTENCES):
        ids = cut(f"no {sentence} yes it", return_tensors="pt").input_ids
        with torch.no_grad():
            expected = stock(ids).logits[0, -1, answers]
        torch.testing.assert_close(ours[row], expected, atol=1e-5, rtol=1e-4)


def _logits(model: Model, on: TaskData) -> Tensor:
    with evaluating(model):
        return trace_of(model, model.encode(on.test)).logits


@pytest.mark.parametrize("pieces", ["mean", "first"])
def test_hidden_states_of_words_are_those_of_their_pieces(pieces: Any, saved: Any) -> None:
    model = make("encoder", saved("encoder"), pieces=pieces)
    stock = AutoModel.from_pretrained(saved("encoder")).eval()
    with evaluating(model):
        trace = trace_of(model, model.encode(data().test))
    for row, sentence in enumerate(SENTENCES):
        inputs = tokenizer()(sentence, return_tensors="pt")
        with torch.no_grad():
            states = stock(**inputs).last_hidden_state[0]  # [T, H]
        for unit in range(len(sentence.split())):
            mine = [place for place, word in enumerate(inputs.word_ids()) if word == unit]
            expected = states[mine].mean(0) if pieces == "mean" else states[mine[0]]
            torch.testing.assert_close(trace.hidden[row, unit + 1], expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", ["encoder", "classifier", "decoder-classifier", "language-model"])
def test_a_deleted_word_leaves_the_text_without_it(kind: str, saved: Any) -> None:
    model = make(kind, saved(kind))
    examples = [example for example in data().test if len(example.units) > 1]
    with evaluating(model):
        trace = trace_of(model, model.encode(examples))
        without = logits_without_each(model, trace)
        for row, example in enumerate(examples):
            for unit in range(len(example.units)):
                shorter = replace(example, units=example.units[:unit] + example.units[unit + 1 :])
                expected = trace_of(model, model.encode([shorter])).logits[0]
                column = int((trace.batch.unit_index[row] == unit).nonzero()[0, 0])
                torch.testing.assert_close(without[row, column], expected, atol=1e-5, rtol=1e-4)


def test_what_does_not_fit_is_left_out_from_the_end(saved: Any) -> None:
    on = data("one two three four five onetwo threefourfive one one", "five")
    batch = make("classifier", saved("classifier"), on, longest=9).encode(on.test)
    assert batch.mask.sum(1).tolist() == [6, 1]  # seven pieces beside [CLS] and [SEP]
    assert batch.unit_index[0].tolist() == [-1, 0, 1, 2, 3, 4, 5, -1]


def test_a_frozen_encoder_neither_learns_nor_drops_out(saved: Any) -> None:
    model: Any = make("encoder", saved("encoder"), freeze=True).train()
    assert not any(parameter.requires_grad for parameter in model.network.parameters())
    assert all(
        parameter.requires_grad for parameter in (*model.scorer.parameters(), *model.decoder.parameters())
    )
    assert not any(module.training for module in model.network.modules())
    assert model.scorer.training


def test_a_layer_whose_attention_cannot_be_told_apart_begins_a_pass_below_all(saved: Any) -> None:
    assert make("albert", saved("albert")).whole  # type: ignore[attr-defined]
    assert not make("classifier", saved("classifier")).whole  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "narrow"),
    [("classifier", True), ("roberta", True), ("decoder-classifier", False), ("encoder", False)],
)
def test_what_no_answer_is_read_from_is_not_computed(
    kind: str, narrow: bool, saved: Any, monkeypatch: Any
) -> None:
    model: Any = make(kind, saved(kind))
    stack = model.network.stack
    assert bool(stack.first.cut) == narrow
    if narrow:  # the last feed-forward part sees one position, and the answer is that of all
        sizes: list[int] = []
        dense = stack.blocks[-1].output.dense
        dense.register_forward_pre_hook(lambda _, args: sizes.append(args[0].shape[1]))
        with evaluating(model):
            trace = trace_of(model, model.encode(data().test))
            monkeypatch.setattr(type(stack.first), "alone", lambda *_, **__: nullcontext())
            whole = trace_of(model, model.encode(data().test))
        assert sizes == [1, int(trace.batch.inputs[..., :-1].ge(0).sum((1, 2)).max())]
        torch.testing.assert_close(trace.logits, whole.logits, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(trace.attention, whole.attention, atol=1e-6, rtol=1e-5)


def test_gradients_of_a_batch_in_several_passes_are_those_of_one(tmp_path: Path) -> None:
    folder = save("classifier", tmp_path / "classifier")
    model = HfClassifier(data(), HfClassifierOptions(checkpoint=str(folder))).eval()
    trace = trace_of(model, model.encode(data().test))
    method = Gradient(GradientOptions())
    whole = method(model, trace, trace.predicted, Randomness(0))
    with smaller_passes(2**-9), counted_passes(model) as passes:  # a row at a time
        parts = method(model, trace, trace.predicted, Randomness(0))
    assert passes.count == len(whole)
    torch.testing.assert_close(parts, whole, rtol=1e-4, atol=1e-5)
