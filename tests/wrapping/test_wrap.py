"""A module of one's own in a few lines: what it can do is found out, and is what the laws say."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import attnx
from attnx.plugin import DataError, PluginError, UsageError
from attnx.testing import assert_conforms, toy_data

VOCABULARY = {"<unk>": 1, "one": 2, "two": 3, "three": 4, "four": 5, "five": 6}


class Weights(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.score = nn.Linear(size, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.score(hidden).softmax(1)  # [B, L, 1]


class Net(nn.Module):
    """Embedding, encoder, attention, linear: without a word about padding."""

    def __init__(self, words: int = 7, classes: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, 6)
        self.encoder = nn.GRU(6, 4, batch_first=True, bidirectional=True)
        self.attention = Weights(8)
        self.out = nn.Linear(8, classes)

    def forward(self, ids: Tensor) -> Tensor:
        hidden, _ = self.encoder(self.embedding(ids))
        return self.out((self.attention(hidden) * hidden).sum(1))


class Unmoved(Net):
    """Computes its weights a second time where it uses them."""

    def forward(self, ids: Tensor) -> Tensor:
        hidden, _ = self.encoder(self.embedding(ids))
        self.attention(hidden)
        self.last = self.attention.score(hidden).softmax(1)
        return self.out((self.last * hidden).sum(1))


class Masked(Net):
    """Takes a mask, and heeds it."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]
        vectors = self.embedding(ids).tanh()
        weights = self.attention.score(torch.cat([vectors, vectors[..., :2]], -1))[..., 0]
        weights = weights.masked_fill(~mask, -torch.inf).softmax(1)
        return self.out(torch.cat([(weights[..., None] * vectors).sum(1), vectors[:, 0, :2]], -1))


class Heedless(Masked):
    """Takes a mask and does not heed it."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(ids, torch.ones_like(mask))


class Toy(attnx.plugin.Task):
    """The toy task."""

    provides = ("words", "rationale")

    def load(self, source: Any) -> attnx.plugin.TaskData:
        return toy_data()

    def sample(self) -> attnx.plugin.TaskData:
        return toy_data()


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def wrapped(module: Any = None, **said: Any) -> Any:
    pieces = {"inputs": VOCABULARY, "attention": "attention", "hidden": "encoder"}
    return attnx.wrap(module or Net(), **{**pieces, **said})


def test_the_common_shape_can_do_everything_but_change_its_projection() -> None:
    model = wrapped()
    assert set(model.provides) == {
        "attention", "reattend", "gradient", "hidden", "decode", "linear-decoder", "deletion", "unseen-words"
    }  # fmt: skip
    assert_conforms("model", model)
    metrics = ["permutation", "adversarial-attention", "comprehensiveness", "plausibility", "kendall"]
    methods = ["loo", "gradient-hidden", "gradient:attention=fixed", "integrated-gradients"]
    report = attnx.evaluate(Toy(), model, metrics=metrics, references=methods, progress=False)
    assert {s.metric for s in report.summaries} == set(metrics)
    assert report.select("exact").mean == 1  # two classes, and found to be linear in attention


def test_a_pass_is_the_modules_own_text_by_text() -> None:
    net = Net()
    batch = (model := wrapped(net)).encode(toy_data().test)
    with torch.no_grad():
        trace = model.run(batch, model.embed(batch))
        for row, example in enumerate(toy_data().test):
            ids = torch.tensor([[VOCABULARY[word] for word in example.units]])
            hidden, _ = net.encoder(net.embedding(ids))
            torch.testing.assert_close(trace.logits[row], net(ids)[0])
            torch.testing.assert_close(
                trace.attention[row, : ids.shape[1]], net.attention(hidden)[0, :, 0], rtol=0, atol=1e-6
            )
    assert not any(module._forward_hooks for module in net.modules())


def test_replaced_attention_is_what_the_decoder_sees() -> None:
    net = Net()
    model = wrapped(net)
    batch = model.encode(toy_data().test)
    with torch.no_grad():
        trace = model.run(batch, model.embed(batch))
        uniform = batch.mask / batch.mask.sum(1, keepdim=True)
        expected = net.out((uniform[..., None] * trace.hidden).sum(1))
        torch.testing.assert_close(model.reattend(trace, uniform), expected)


def test_weights_that_are_only_shown_are_only_read() -> None:
    for model in (wrapped(Unmoved()), wrapped(Unmoved(), attention=lambda net: net.last[..., 0])):
        assert "attention" in model.provides or model.cannot
        assert "reattend" not in model.provides
    assert "changes nothing" in wrapped(Unmoved()).cannot["reattend"]
    with pytest.raises(UsageError, match=r"\('reattend'\)"):
        attnx.evaluate(Toy(), wrapped(Unmoved()), metrics=["permutation"], progress=False)


def test_a_black_box_is_explained_all_the_same() -> None:
    model = attnx.wrap(Net(), inputs=VOCABULARY)
    assert model.provides == ("unseen-words", "gradient", "deletion")
    assert "not reattend: no submodule was named: set attention=NAME" in repr(model)
    report = attnx.evaluate(Toy(), model, metrics=["comprehensiveness"], progress=False)
    assert {s.explanation for s in report.summaries} == {"gradient"}


def test_a_mask_is_given_to_those_who_take_one() -> None:
    assert_conforms("model", model := attnx.wrap(Masked(), inputs=VOCABULARY))
    assert model.padded
    assert attnx.wrap(Net(), inputs=VOCABULARY, forward=lambda net, ids, mask: net(ids)).cannot["deletion"]


def test_a_mask_that_is_not_heeded_is_found_out() -> None:
    assert "alone gives another result" in attnx.wrap(Heedless(), inputs=VOCABULARY).cannot["deletion"]


def test_a_class_is_trained_with_a_vocabulary_of_the_texts() -> None:
    report = attnx.evaluate(
        Toy(), attnx.wrap(Net, attention="attention", hidden="encoder"), metrics=["entropy"], seeds=[0, 1],
        training={"epochs": 3}, progress=False,
    )  # fmt: skip
    assert report.labels["model"] == "Net"
    assert [quality.epochs for quality in report.quality] == [3, 3]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"embeddings": "embeding"}, "no submodule 'embeding'. Did you mean 'embedding'"),
        ({"attention": "out"}, "The submodule of attention= must return [B, L]"),
        ({"inputs": None}, "needs inputs="),
        ({"forward": lambda net, ids, mask: ids.float()[:, :, None]}, "must return logits [B, C]"),
        ({"module": lambda words: Net(words)}, "must be a factory f(vocab_size, num_classes)"),
        ({"module": 3}, "takes a torch.nn.Module"),
    ],
)
def test_what_does_not_fit_is_one_line(said: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        wrapped(**said)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_word_without_an_id_is_said() -> None:
    known = {word: number for word, number in VOCABULARY.items() if word not in ("<unk>", "five")}
    with pytest.raises(DataError, match="no word 'five': set unknown="):
        attnx.wrap(Net(), inputs=known).encode(toy_data().test)
    assert len(attnx.wrap(Net(), inputs=known, unknown=1).encode(toy_data().test)) == 6


def test_a_submodule_that_is_shared_is_found_by_each_of_its_names() -> None:
    net = Net()
    net.second = net.attention
    assert wrapped(net, attention="second").provides == wrapped(net).provides


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_logits_that_are_no_numbers_are_said_before_any_trial(value: float) -> None:
    nn.init.constant_((net := Net()).out.bias, value)
    with pytest.raises(PluginError, match="logits are not finite on a made-up text, 'one two three'"):
        wrapped(net)
