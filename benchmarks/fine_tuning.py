"""Fine-tuning a classifier of MiniLM's shape, 6 layers of 384, on texts of about 20 words, without dropout.

ours    the steps of a run: batches of similar length, products of layers that learn by the faster library
peer    the same texts in the same batches, transformers' model with torch's fused Adam
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

from attnx.plugin import Batch, Training
from attnx.run.measuring.splits import Split, shuffled
from attnx.run.training.loop import _optimizer, loss
from attnx_transformers.classifier import HfClassifier

from .minilm import checkpoint, our_classifier
from .peers import random_texts
from .timing import Row, best_of

TRAINING = Training(learning_rate=1e-4)
TEXTS = 256
TOLERANCE = 1e-3  # of the loss of every step


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of an epoch of ours and of the peer, best of several, and whether their losses are equal."""
    texts = random_texts(8, 2, 5) if tiny else random_texts(TEXTS, 15, 25)
    with checkpoint() as (folder, tokenizer):
        model = our_classifier(folder)
        stock = AutoModelForSequenceClassification.from_pretrained(folder).eval()
        steps = list(
            shuffled(
                Split(model, texts, torch.device("cpu")),
                TRAINING.batch_size,
                torch.Generator().manual_seed(0),
            )
        )
        best = best_of(
            2, {"ours": lambda: _epoch(model, steps), "peer": lambda: _stock_epoch(stock, tokenizer, steps)}
        )
    ours, peer = best["ours"], best["peer"]
    equal = torch.allclose(ours.result, peer.result, atol=TOLERANCE)
    work = f"fine-tuning MiniLM, an epoch of {len(texts)} texts of ~20 / transformers"
    return [Row(work, ours.seconds, peer.seconds, 1.3, equal)]


def _epoch(trained: HfClassifier, steps: Sequence[Batch]) -> Tensor:
    """The loss of every step [steps], by what `attnx.run.training.loop.train` does in one."""
    model = copy.deepcopy(trained).requires_grad_()
    optimizer = _optimizer(model, TRAINING)
    losses = []
    for batch in steps:
        optimizer.zero_grad(set_to_none=True)
        value = loss(model, batch)
        value.backward()
        optimizer.step()
        losses.append(value.detach())
    return torch.stack(losses)


def _stock_epoch(
    trained: torch.nn.Module, tokenizer: PreTrainedTokenizerFast, steps: Sequence[Batch]
) -> Tensor:
    model = copy.deepcopy(trained)
    optimizer = torch.optim.Adam(
        model.parameters(),
        TRAINING.learning_rate,
        weight_decay=TRAINING.weight_decay,
        amsgrad=True,
        fused=True,
    )
    losses = []
    for batch in steps:
        words = [list(example.units) for example in batch.examples]
        pieces = tokenizer(words, is_split_into_words=True, padding=True, return_tensors="pt")
        optimizer.zero_grad()
        value = F.cross_entropy(model(**pieces).logits, batch.labels)
        value.backward()
        optimizer.step()
        losses.append(value.detach())
    return torch.stack(losses)
