"""Answers of a language model, explained as a whole and piece by piece."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_checkpoints import save, tokenizer
from transformers import AutoModelForCausalLM
from typer.testing import CliRunner

import attnx
from attnx.cli.app import app
from attnx.plugin import UsageError
from attnx.results import Explanation

TEXT = "one two three four"
NOTHING = {"epochs": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("llama", tmp_path_factory.mktemp("answers") / "llama")


@pytest.fixture(scope="module")
def model(folder: Path) -> str:
    return f"hf-causal:checkpoint={folder},template={{text}} it"


@pytest.fixture(scope="module")
def stock(folder: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(folder).eval()


@pytest.fixture(scope="module")
def explained(model: str) -> Explanation:
    methods = ["attention", "loo:normalise=false", "integrated-gradients", "rollout"]
    return _explain(model, methods, answer="generated", answer_length=3)


def _explain(model: str, methods: Any = "loo", text: str = TEXT, **more: Any) -> Any:
    return attnx.explain(model, text, methods, training=NOTHING, progress=False, **more)


def _greedy(stock: Any, prompt: str, count: int) -> tuple[list[int], list[float]]:
    """The most probable piece at each step, each from a whole pass, and its probability."""
    ids = tokenizer(frame=False)(prompt).input_ids
    found, chances = [], []
    for _ in range(count):
        with torch.no_grad():
            p = stock(torch.tensor([[*ids, *found]])).logits[0, -1].softmax(-1)
        found.append(int(p.argmax()))
        chances.append(float(p.max()))
    return found, chances


def _probability(stock: Any, prompt: str, answer: list[int]) -> list[float]:
    """The probability of each piece of an answer after a prompt."""
    ids = tokenizer(frame=False)(prompt).input_ids
    with torch.no_grad():
        p = stock(torch.tensor([[*ids, *answer]])).logits[0].softmax(-1)
    return [float(p[len(ids) - 1 + at, piece]) for at, piece in enumerate(answer)]


def test_the_generated_answer_is_the_greedy_one(explained: Explanation, stock: Any) -> None:
    pieces, chances = _greedy(stock, f"{TEXT} it", 3)
    assert explained.answer is not None
    assert explained.answer.generated
    assert explained.answer.pieces == tuple(tokenizer(frame=False).decode([piece]) for piece in pieces)
    np.testing.assert_allclose(explained.answer.probabilities, chances, rtol=1e-3)
    whole = explained.probabilities[explained.answer.words]
    assert whole == pytest.approx(float(np.prod(chances)), rel=1e-3)
    assert explained.predicted == explained.target == explained.answer.words


def test_leave_one_out_of_an_answer_is_that_of_its_sequence_and_of_each_piece(
    explained: Explanation, stock: Any
) -> None:
    pieces, chances = _greedy(stock, f"{TEXT} it", 3)
    words = TEXT.split()
    without = [
        _probability(stock, " ".join([*words[:at], *words[at + 1 :], "it"]), pieces) for at in range(4)
    ]
    whole = [np.prod(chances) - np.prod(p) for p in without]
    np.testing.assert_allclose(explained.array("loo:normalise=false"), whole, rtol=5e-3, atol=1e-5)
    assert explained.answer is not None
    by_piece = np.array(chances)[:, None] - np.array(without).T  # [pieces, words]
    np.testing.assert_allclose(explained.answer.matrix("loo:normalise=false"), by_piece, rtol=5e-3, atol=1e-5)


def test_attention_of_a_piece_is_read_from_the_position_before_it(explained: Explanation, stock: Any) -> None:
    pieces, _ = _greedy(stock, f"{TEXT} it", 3)
    stock.set_attn_implementation("eager")
    ids = [*tokenizer(frame=False)(f"{TEXT} it").input_ids, *pieces[:-1]]
    with torch.no_grad():
        weights = stock(torch.tensor([ids]), output_attentions=True).attentions[-1][0].mean(0)  # [T, T]
    assert explained.answer is not None
    for row, scores in enumerate(explained.answer.matrix("attention")):
        on_words = weights[4 + row, :4].numpy()  # four words of one piece each, then "it"
        np.testing.assert_allclose(scores, on_words / on_words.sum(), rtol=1e-3, atol=1e-5)


def test_integrated_gradients_of_a_piece_add_up(explained: Explanation) -> None:
    assert explained.answer is not None
    rows = explained.answer.matrix("integrated-gradients")
    assert rows.shape == (3, 4)
    assert np.isfinite(rows).all()
    assert (np.abs(rows).sum(1) > 0).all()


def test_a_contrast_of_answers_explains_one_against_the_other(model: str, stock: Any) -> None:
    found = _explain(model, "loo:normalise=false", answer="yes no", versus="five")
    cut = tokenizer(frame=False)
    one, other = (cut(answer).input_ids for answer in ("yes no", "five"))

    def share(prompt: str) -> float:
        a, b = (np.prod(_probability(stock, prompt, answer)) for answer in (one, other))
        return float(a / (a + b))

    assert found.probabilities["yes no"] == pytest.approx(share(f"{TEXT} it"), rel=1e-3)
    words = TEXT.split()
    without = [share(" ".join([*words[:at], *words[at + 1 :], "it"])) for at in range(4)]
    np.testing.assert_allclose(
        found.array("loo:normalise=false"), share(f"{TEXT} it") - np.array(without), rtol=5e-3, atol=1e-5
    )
    assert not found.answer.generated
    assert found.answer.pieces == ("yes", "no")
    assert found.answer.against == ("five", None)  # "five" has no second piece
    assert found.answer.labels == ("yes, not five", "no")

    def first(prompt: str) -> float:
        a, b = (_probability(stock, prompt, [answer[0]])[0] for answer in (one, other))
        return float(a / (a + b))

    assert found.answer.probabilities[0] == pytest.approx(first(f"{TEXT} it"), rel=1e-3)
    by_hand = [first(" ".join([*words[:at], *words[at + 1 :], "it"])) for at in range(4)]
    np.testing.assert_allclose(
        found.answer.matrix("loo:normalise=false")[0],
        first(f"{TEXT} it") - np.array(by_hand),
        rtol=5e-3,
        atol=1e-5,
    )
    assert "yes, not five" in found.to_html()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"answer": "  "}, "The answer is empty: write some words"),
        ({"answer": "yes", "versus": "yes"}, "are both 'yes'"),
        ({"answer": "yes", "versus": " "}, "answer of --versus is empty"),
    ],
)
def test_answers_that_cannot_be_explained_are_refused(model: str, more: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _explain(model, **more)


def test_a_classifier_does_not_answer(tmp_path: Path) -> None:
    classifier = f"hf-classifier:checkpoint={save('classifier', tmp_path / 'bert')}"
    with pytest.raises(UsageError, match="does not answer in words: leave out --answer"):
        _explain(classifier, answer="generated")


def test_label_words_are_the_classes_without_a_task(folder: Path) -> None:
    found = _explain(f"hf-causal:checkpoint={folder},labels=yes+no")
    assert set(found.probabilities) == {"yes", "no"}


def test_an_answer_survives_json_and_every_view(explained: Explanation) -> None:
    again = Explanation.from_json(explained.to_json())
    assert again == explained
    page = explained.to_html()
    assert page.count('<table class="heat"') == 4
    assert page.count('tabindex="0"') == 4  # one cell of each table is reached by Tab
    assert page.count('class="cell') == 4 * 3 * 4
    assert "pieces of the answer" in page
    assert "piece of the answer" in explained.to_text(80)
    assert max(map(len, explained.to_text(80).splitlines())) <= 80
    assert '<table class="heat"' in explained._repr_html_()


def test_the_command_explains_sentences_of_a_text(folder: Path) -> None:
    asked = ["explain", "--model", f"hf-causal:checkpoint={folder},labels=yes+no", "--train", "epochs=0"]
    texts = ["one two. three four. five", "--method", "loo", "--units"]
    found = CliRunner().invoke(app, [*asked, *texts, "sentences"])
    assert found.exit_code == 0, found.output
    assert "removed sentence" in found.output
    wrong = CliRunner().invoke(app, [*asked, *texts, "sentence"])
    assert "Did you mean 'sentences'" in str(wrong.exception)


def test_sentences_need_a_model_that_reads_texts() -> None:
    with pytest.raises(UsageError, match="--units sentences needs a model that reads texts"):
        attnx.explain("bilstm-add", "a b", "loo", task="sdc-text", units="sentences", progress=False)
