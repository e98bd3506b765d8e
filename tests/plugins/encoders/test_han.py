"""The hierarchical model: its units are sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from text_building import build, read, sentence_data, with_queries

from attnx.plugin import Batch, Example, UsageError
from attnx.run.evaluation_mode import evaluating
from attnx.testing import assert_conforms, toy_data
from attnx_encoders.sentences import in_sentences


@pytest.mark.parametrize("words", ["gru", "conv", "none"])
@pytest.mark.parametrize("sentences", ["gru", "conv", "none"])
def test_han_passes_the_conformance_tests_at_any_levels(words: str, sentences: str) -> None:
    data = sentence_data()
    assert_conforms("model", build("han", data, words=words, sentences=sentences), data)


def test_units_of_a_han_are_sentences() -> None:
    batch = build("han", sentence_data(), longest=5).encode(sentence_data().test)
    assert [example.units for example in batch.examples] == [
        ("one two .", "three four five !", "one"),
        ("five .",),
        ("one two three four five", "one two three"),
        ("two ?", "four ! !", "one .", "three"),
    ]
    assert batch.lengths.tolist() == [3, 1, 2, 4]
    assert batch.unit_index[0].tolist() == [0, 1, 2, -1]
    assert batch.rationale[0].tolist() == [0, 1, 0, 0]
    assert batch.rationale[1].isnan().all()


def test_a_word_with_a_space_in_it_is_not_a_sentence() -> None:
    words = ("we", "saw", "new york", ".", "then", "we", "left", ".")
    found = in_sentences(Example("trip", words, 0), longest=60)
    assert found.units == ("we saw new york .", "then we left .")


def test_a_text_in_sentences_stays_as_it_is() -> None:
    model = build("han", sentence_data())
    once = model.encode(sentence_data().test)
    again = model.encode(once.examples)
    assert again.examples == once.examples
    assert torch.equal(again.inputs, once.inputs)
    from_sentences = build("han", replace(sentence_data(), train=once.examples))
    assert from_sentences.vocabulary == model.vocabulary


def test_deleting_a_column_of_a_han_deletes_its_sentence() -> None:
    model = build("han", sentence_data())
    batch = model.encode(sentence_data().test[:1])
    kept = torch.tensor([0, 2])
    shorter = Batch.collate(
        batch.examples,
        inputs=batch.inputs[:, kept],
        mask=batch.mask[:, kept],
        unit_index=batch.unit_index[:, kept],
        lengths=batch.lengths - 1,
    )
    with evaluating(model):
        by_column = model.run(shorter, model.embed(batch)[:, kept]).logits
    words = tuple("one two . one".split())
    by_words = read(model, [Example("shorter", words, 0)]).logits
    torch.testing.assert_close(by_column, by_words, atol=1e-6, rtol=1e-6)


def test_han_equals_its_two_levels_written_out() -> None:
    model = build("han", sentence_data(), words="none", sentences="none")
    trace = read(model, sentence_data().test[:1])
    table, scorer = model.word_vectors.weight, model.word_scorer
    sentences = []
    for sentence in ("one two .", "three four five !", "one"):
        words = table[torch.tensor(model.vocabulary.numbers(sentence.split()))]  # [W, e]
        z = torch.tanh(words @ scorer.state.weight.T + scorer.state.bias) @ scorer.v.weight[0]
        sentences.append(z.softmax(0) @ words)
    hidden = torch.stack(sentences)
    torch.testing.assert_close(trace.hidden[0], hidden, atol=1e-5, rtol=1e-5)
    expected = trace.attention[0] @ hidden @ model.decoder.weight.T + model.decoder.bias
    torch.testing.assert_close(trace.logits[0], expected, atol=1e-5, rtol=1e-5)


def test_han_refuses_a_task_with_queries() -> None:
    with pytest.raises(UsageError, match="bilstm"):
        build("han", with_queries(toy_data()))
