"""Training a head on a frozen encoder of MiniLM's shape, 6 layers of 384, with random weights.

ours    hidden states computed once for all epochs; and read from disk, as a second training does
peer    hidden states computed for every batch of every epoch
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from attnx.plugin import TaskData, Training
from attnx.progress import Progress
from attnx.run.training import frozen_states
from attnx.run.training.checkpoints import Checkpoint
from attnx.run.training.loop import train
from attnx.run.training.models import seeded
from attnx.store.weights import Weights
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax
from attnx_transformers.checkpoints import quiet
from attnx_transformers.encoder import HfEncoder
from attnx_transformers.options import HfOptions

from .peers import WORDS, random_texts
from .timing import Row, best_of

TEXTS, DEV, EPOCHS = 720, 80, 12
TOLERANCE = 1e-2  # of weights after training: the states of one text differ by rounding from batch to batch
TARGET = 8.0


@dataclass(frozen=True)
class Size:
    """How large a case is."""

    texts: int
    dev: int
    epochs: int
    layers: int
    width: int


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of ours and of the peer, and whether both end in the same weights."""
    size = Size(16, 8, 2, 1, 24) if tiny else Size(TEXTS, DEV, EPOCHS, 6, 384)
    with _home() as home, _checkpoint(home, size) as folder:
        texts = tuple(random_texts(size.texts + size.dev, 15, 25))
        data = TaskData(texts[: size.texts], texts[size.texts :], (), ("no", "yes"))

        def ours() -> dict[str, Tensor]:
            for file in (home / "kept" / "states").glob("*.safetensors"):
                file.unlink()
            return _trained(data, folder, size)

        def again() -> dict[str, Tensor]:
            return _trained(data, folder, size)

        def peer() -> dict[str, Tensor]:
            with patch.object(frozen_states, "MOST", 0):
                return _trained(data, folder, size)

        best = best_of(1 if tiny else 2, {"ours": ours, "again": again, "peer": peer})
    work = f"head on a frozen MiniLM, {size.texts} texts, {size.epochs} epochs / states in every epoch"
    exact = _same(best["again"].result, best["ours"].result, 0.0)
    near = _same(best["ours"].result, best["peer"].result, TOLERANCE)
    target = 0.0 if tiny else TARGET
    return [
        Row(work, best["ours"].seconds, best["peer"].seconds, target, near),
        Row(f"{work}, second time", best["again"].seconds, best["peer"].seconds, 2 * target, exact and near),
    ]


def _same(a: dict[str, Tensor], b: dict[str, Tensor], tolerance: float) -> bool:
    return all(torch.allclose(a[name], b[name], rtol=0.0, atol=tolerance) for name in b)


def _trained(data: TaskData, folder: Path, size: Size) -> dict[str, Tensor]:
    """The weights of the head after training."""
    with seeded(0):
        options = HfOptions(checkpoint=str(folder), freeze=True)
        model = HfEncoder.build(data, Softmax(SoftmaxOptions()), options)
        cpu, training = torch.device("cpu"), Training(epochs=size.epochs, patience=0)
        checkpoint = Checkpoint(Weights().checkpoints, "bench")
        train(
            model, data, training, seed=0, device=cpu, progress=Progress("off"), label="",
            keep="last", checkpoint=checkpoint,
        )  # fmt: skip
        checkpoint.remove()
    return {name: value for name, value in model.state_dict().items() if not name.startswith("network")}


@contextmanager
def _home() -> Iterator[Path]:
    """A folder of their own for what is kept."""
    with TemporaryDirectory() as folder, patch.dict(os.environ, {"ATTNX_HOME": folder}):
        yield Path(folder)


@contextmanager
def _checkpoint(home: Path, size: Size) -> Iterator[Path]:
    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(WORDS))]
    vocabulary = {word: number for number, word in enumerate(words)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    marks = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=12,
        intermediate_size=4 * size.width,
        initializer_range=0.1,
    )
    folder = home / "checkpoint"
    with quiet():
        BertModel(config).save_pretrained(folder)
        PreTrainedTokenizerFast(
            tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", model_max_length=512
        ).save_pretrained(folder)
        yield folder
