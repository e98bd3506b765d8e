"""A pass that computes of the last layer what its answer needs gives what transformers gives."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from architectures import save_tiny
from tiny_checkpoints import data, save
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from transformers import AutoConfig, AutoModelForSequenceClassification

from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_transformers.activations import Activations
from attnx_transformers.checkpoints import quiet
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.first_position import FirstPosition
from attnx_transformers.options import HfClassifierOptions
from attnx_transformers.packing import Packing

# By architecture: whether the queries of the last layer are found, too.
NARROW = {
    "bert": True, "roberta": True, "camembert": True, "distilbert": True, "electra": True, "ernie": True,
    "xlm-roberta-xl": True, "roberta-prelayernorm": True, "modernbert": False, "nomic_bert": False,
}  # fmt: skip
CLOSE = {"atol": 2e-5, "rtol": 2e-4}  # another word changes a logit by far more


def classifier(folder: Path, **options: Any) -> Any:
    return HfClassifier(data(), HfClassifierOptions(checkpoint=str(folder), **options)).eval()


def plainly(model: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same model, which computes everything from now on."""
    monkeypatch.setattr(FirstPosition, "alone", lambda *_, **__: nullcontext())
    model.network.activations = Activations()
    return model


def stock_logits(folder: Path, model: Any, batch: Any) -> Tensor:
    """What transformers gives for each text by itself."""
    with quiet():
        stock = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    packing = Packing.of(batch, batch.inputs.shape[-1] - 1)
    ids = batch.inputs[..., :-1].flatten(1).gather(1, packing.place).long()
    found = []
    for row, used in enumerate(packing.used):
        given = {"input_ids": ids[row, used][None]}
        if model.network.takes_types:
            given["token_type_ids"] = packing.kind[row, used][None]
        with torch.no_grad():
            found.append(stock(**given).logits[0])
    return torch.stack(found)


def gradient(model: Any, batch: Any) -> Tensor:
    vectors = model.embed(batch).detach().requires_grad_()
    with torch.enable_grad():
        logits = model.run(batch, vectors).logits
        (found,) = torch.autograd.grad(logits[:, 0].sum(), vectors)
    return found


class Counting(TorchFunctionMode):
    """Counts the rows that are multiplied with a weight."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight, self.rows = weight, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is F.linear and args[1] is self.weight:
            self.rows += args[0][..., 0].numel()
        return func(*args, **(kwargs or {}))


def rows_read(module: Any, call: Callable[[], Any]) -> int:
    """How many rows a linear map multiplies with its weights in a call."""
    with Counting(module.weight) as counting:
        call()
    return counting.rows


@pytest.mark.parametrize("name", NARROW)
def test_one_position_of_the_last_layer_answers_as_all_do(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny(name, "hf-classifier", tmp_path)
    model = classifier(tmp_path)
    first = model.network.stack.first
    assert first.cut
    assert first.attention
    assert len(first.maps) == 1 + NARROW[name]
    batch = model.encode(data().test)  # of several lengths
    mixes = first.maps[-1]  # the heads of what is attended to
    with evaluating(model):
        rows = rows_read(mixes, lambda: trace_of(model, batch))
        ours, slopes = trace_of(model, batch), gradient(model, batch)
        torch.testing.assert_close(ours.logits, stock_logits(tmp_path, model, batch), **CLOSE)
        plainly(model, monkeypatch)
        all_rows = rows_read(mixes, lambda: trace_of(model, batch))
        whole, all_slopes = trace_of(model, batch), gradient(model, batch)
    assert rows == len(batch)
    assert all_rows > 2 * rows
    torch.testing.assert_close(ours.logits, whole.logits, **CLOSE)
    torch.testing.assert_close(ours.attention, whole.attention, **CLOSE)
    torch.testing.assert_close(slopes, all_slopes, atol=1e-4 * float(all_slopes.abs().max()), rtol=1e-3)
    assert float(all_slopes.abs().max()) > 0


def mean_pooling(folder: Path) -> None:
    with quiet():
        save_tiny("modernbert", "hf-classifier", folder)
        config = AutoConfig.from_pretrained(folder, classifier_pooling="mean")
        torch.manual_seed(0)
        AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)


ALL_POSITIONS: dict[str, Callable[[Path], Any]] = {
    "the mean of all": mean_pooling,
    "the mean of all, normalised": lambda folder: save_tiny("eurobert", "hf-classifier", folder),
    "the last one": lambda folder: save("decoder-classifier", folder),
    "the last one, rotated": lambda folder: save_tiny("llama", "hf-classifier", folder),
    "layers that share their weights": lambda folder: save_tiny("albert", "hf-classifier", folder),
}


@pytest.mark.parametrize("read", ALL_POSITIONS)
def test_an_answer_from_other_positions_computes_all_of_them(read: str, tmp_path: Path) -> None:
    ALL_POSITIONS[read](tmp_path)
    model = classifier(tmp_path)
    assert model.network.stack.first == FirstPosition()
    batch = model.encode(data().test)
    with evaluating(model):
        torch.testing.assert_close(
            trace_of(model, batch).logits, stock_logits(tmp_path, model, batch), **CLOSE
        )


@pytest.mark.parametrize("query", ["last", "mean"])
@pytest.mark.parametrize("layer", [0, -1])
def test_attention_from_other_positions_is_read_and_replaced_as_ever(
    layer: int, query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = classifier(save("classifier", tmp_path), layer=layer, query=query)
    batch = model.encode(data().test)
    assert model.network.stack.first.attention

    def read_and_replaced() -> tuple[Tensor, Tensor]:
        trace = trace_of(model, batch)
        even = batch.mask / batch.mask.sum(1, keepdim=True)
        return trace.attention, model.reattend(trace, even)

    with evaluating(model):
        ours = read_and_replaced()
        plainly(model, monkeypatch)
        whole = read_and_replaced()
    torch.testing.assert_close(ours, whole, **CLOSE)


def test_replaced_attention_of_the_last_layer_answers_as_all_positions_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = classifier(save("classifier", tmp_path))
    batch = model.encode(data().test)
    even = batch.mask / batch.mask.sum(1, keepdim=True)
    with evaluating(model):
        trace = trace_of(model, batch)
        ours = model.reattend(trace, even)
        plainly(model, monkeypatch)
        whole = model.reattend(trace_of(model, batch), even)
    assert float((ours - trace.logits).abs().max()) > 1e-2  # it matters
    torch.testing.assert_close(ours, whole, **CLOSE)


def test_training_computes_what_dropout_draws_numbers_for(tmp_path: Path) -> None:
    model = classifier(save("classifier", tmp_path)).train()
    batch = model.encode(data().test)
    mixes = model.network.stack.first.maps[-1]
    assert rows_read(mixes, lambda: trace_of(model, batch)) > 2 * len(batch)
    model.eval()
    assert rows_read(mixes, lambda: trace_of(model, batch)) == len(batch)
