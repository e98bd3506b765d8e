"""The weights of a checkpoint: all of them, in a precision of one's choice, and what they can read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from test_models import make
from tiny_checkpoints import data
from transformers.models.bert import modeling_bert

from attnx.plugin import DataError, UsageError
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.testing.toy import ToySoftmax
from attnx_erasure.deletion import logits_without_each
from attnx_transformers.causal import HfCausal
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.options import HfCausalOptions, HfClassifierOptions


def changed(folder: Path, into: Path, change: Any) -> Path:
    """A copy of a checkpoint whose tensors somebody changed."""
    shutil.copytree(folder, into)
    tensors = load_file(into / "model.safetensors")
    change(tensors)
    save_file(tensors, into / "model.safetensors", metadata={"format": "pt"})
    return into


QUERY = "bert.encoder.layer.1.attention.self.query"


def lose(*names: str) -> Any:
    return lambda tensors: [tensors.pop(name) for name in names]


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("classifier", lose(f"{QUERY}.weight"), f"it lacks: {QUERY}.weight."),
        ("classifier", lose("classifier.bias"), "it lacks: classifier.bias."),
        (
            "classifier",
            lambda tensors: tensors.update({"classifier.weight": torch.zeros(5, 32)}),
            "it has another shape of: classifier.weight.",
        ),
        (
            "classifier",
            lambda tensors: tensors.update({"more.weight": torch.zeros(5)}),
            "it has more than the model takes: more.weight.",
        ),
        (
            "encoder",  # with a new head, which excuses no part of the body
            lose(*(f"encoder.layer.1.attention.self.{name}.weight" for name in ("query", "key"))),
            "it lacks: bert.encoder.layer.1.attention.self.key.weight, "
            "bert.encoder.layer.1.attention.self.query.weight.",
        ),
    ],
    ids=["a tensor", "part of the head", "another shape", "one too many", "body under a new head"],
)
def test_a_checkpoint_that_is_not_the_whole_model_is_refused(
    kind: str, change: Any, said: str, saved: Any, tmp_path: Path
) -> None:
    folder = changed(saved(kind), tmp_path / "changed", change)
    with pytest.raises(DataError) as refused:
        HfClassifier.build(data(), ToySoftmax(), HfClassifierOptions(checkpoint=str(folder)))
    assert str(refused.value).endswith(f"does not fit BertForSequenceClassification; {said}")


def test_an_encoder_that_lacks_a_tensor_is_refused_and_other_heads_are_not_read(
    saved: Any, tmp_path: Path
) -> None:
    make("encoder", saved("classifier"))  # its classification head is not part of the encoder
    lost = changed(saved("classifier"), tmp_path / "lost", lose(f"{QUERY}.bias"))
    with pytest.raises(DataError, match=r"does not fit BertModel; it lacks: .*query\.bias\."):
        make("encoder", lost)
    make("encoder", changed(saved("encoder"), tmp_path / "no-pooler", lose("pooler.dense.weight")))


def test_a_new_head_is_announced_and_trained_with_its_pooler(saved: Any, tmp_path: Path) -> None:
    assert make("classifier", saved("classifier")).notices == ()  # type: ignore[attr-defined]
    gone = lose("pooler.dense.weight", "pooler.dense.bias")
    folder = changed(saved("encoder"), tmp_path / "no-pooler", gone)
    model: Any = make("classifier", folder, freeze=True)
    (said,) = model.notices
    assert "has no classification head: a new one was made" in said
    learning = {name for name, p in model.network.transformer.named_parameters() if p.requires_grad}
    new = {"classifier.weight", "classifier.bias", "bert.pooler.dense.weight", "bert.pooler.dense.bias"}
    assert learning == new


def test_a_language_model_without_its_head_is_refused(saved: Any) -> None:
    with pytest.raises((DataError, UsageError), match=r"lacks|is not a language model"):
        HfCausal.build(data(), ToySoftmax(), HfCausalOptions(checkpoint=str(saved("encoder"))))


@pytest.mark.parametrize("stored", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("kind", ["classifier", "decoder-classifier", "llama"])
def test_a_half_precision_checkpoint_is_measured_in_full(
    kind: str, stored: Any, saved: Any, tmp_path: Path
) -> None:
    def halve(tensors: dict[str, torch.Tensor]) -> None:
        tensors |= {name: tensor.to(stored) for name, tensor in tensors.items()}

    folder = changed(saved(kind), tmp_path / "half", halve)
    config = json.loads((folder / "config.json").read_text()) | {"dtype": str(stored).removeprefix("torch.")}
    (folder / "config.json").write_text(json.dumps(config))
    found = {}
    for dtype in ("float32", "float64"):
        model = make(kind, folder, dtype=dtype)
        with evaluating(model):
            trace = trace_of(model, model.encode(data().test))
            deleted = logits_without_each(model, trace)
        assert trace.logits.dtype == getattr(torch, dtype)
        assert bool(torch.isfinite(deleted[trace.batch.mask]).all())
        found[dtype] = trace.logits.double()
    torch.testing.assert_close(found["float32"], found["float64"], atol=1e-4, rtol=1e-4)
    assert not torch.equal(found["float32"], found["float64"])


def test_the_limit_of_roberta_leaves_out_the_positions_it_does_not_use(saved: Any, tmp_path: Path) -> None:
    folder = tmp_path / "unlimited"
    shutil.copytree(saved("roberta"), folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    del settings["model_max_length"]
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    on = data("one two " * 40, "five")
    model: Any = make("roberta", folder, on)
    assert model.network.transformer.config.max_position_embeddings == 34
    assert model.network.pieces.limit == 33  # padding is piece 0 here, so positions begin at 1
    with evaluating(model):
        assert bool(torch.isfinite(trace_of(model, model.encode(on.test)).logits).all())


def test_a_model_that_answers_differently_from_embeddings_is_refused(saved: Any, monkeypatch: Any) -> None:
    whole = modeling_bert.BertEmbeddings.forward

    def scaled(self: Any, *args: Any, **more: Any) -> Any:
        return whole(self, *args, **more) * (1 if more.get("inputs_embeds") is None else 2)

    monkeypatch.setattr(modeling_bert.BertEmbeddings, "forward", scaled)
    with pytest.raises(UsageError, match="gives another output from embeddings than from the pieces"):
        make("classifier", saved("classifier"))
