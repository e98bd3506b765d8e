"""One epoch of training a BiLSTM with additive attention on 6000 texts of about 20 words, and on 600 of 135.

ours    batches of similar length, an LSTM in each direction without packing, fused Adam, freed memory kept
peer    the original formulation: padding in order of arrival, packing, plain Adam
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.plugin import Batch, TaskData, Training
from attnx.run.measuring.freed_memory import keeping
from attnx.run.measuring.splits import Split, shuffled
from attnx.run.training.loop import _optimizer, loss
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.options import BiLstmOptions
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax

from .peers import PackedBiLstm, random_texts
from .timing import Row, best_of

TRAINING = Training()
REPEATS = 2
TOLERANCE = 1e-5


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of an epoch of ours and of the peer, best of several, and whether their logits are equal."""
    if tiny:
        return [_row(20, 2, 5, 3.0)]
    return [_row(6000, 8, 32, 3.0), _row(600, 120, 150, 3.0)]


def _row(count: int, shortest: int, longest: int, target: float) -> Row:
    texts = random_texts(count, shortest, longest)
    torch.manual_seed(0)
    data = TaskData(tuple(texts), (), (), ("no", "yes"))
    model = BiLstm.build(data, Softmax(SoftmaxOptions()), BiLstmOptions())
    peer = PackedBiLstm(model)
    split, encoded = Split(model, texts, torch.device("cpu")), model.encode(texts)
    equal = _same_logits(model, peer, encoded)
    best = best_of(
        REPEATS, {"ours": lambda: _epoch(model, split), "peer": lambda: _original_epoch(peer, encoded)}
    )
    work = f"training epoch, {count} texts of ~{(shortest + longest) // 2}"
    return Row(work, best["ours"].seconds, best["peer"].seconds, target, equal)


@keeping()
def _epoch(model: BiLstm, split: Split) -> None:
    """What `attnx.run.training.loop.train` does in one epoch."""
    model.train()
    optimizer = _optimizer(model, TRAINING)
    for batch in shuffled(split, TRAINING.batch_size, torch.Generator().manual_seed(0)):
        optimizer.zero_grad(set_to_none=True)
        loss(model, batch).backward()
        optimizer.step()


def _original_epoch(peer: PackedBiLstm, encoded: Batch) -> None:
    peer.train()
    free = [*peer.first.parameters(), *peer.second.parameters()]
    decayed = [p for p in peer.parameters() if all(p is not other for other in free)]
    groups = [
        {"params": free, "weight_decay": 0.0},
        {"params": decayed, "weight_decay": TRAINING.weight_decay},
    ]
    optimizer = torch.optim.Adam(groups, lr=TRAINING.learning_rate, amsgrad=True)
    order = torch.randperm(len(encoded), generator=torch.Generator().manual_seed(0))
    for numbers in order.split(TRAINING.batch_size):
        batch = encoded.take(numbers)
        optimizer.zero_grad()
        F.cross_entropy(peer(batch.inputs, batch.lengths), batch.labels).backward()
        optimizer.step()


def _same_logits(model: BiLstm, peer: PackedBiLstm, encoded: Batch) -> bool:
    """Whether both compute the same, with word vectors large enough for every word to matter."""
    larger, larger_peer = copy.deepcopy(model).eval(), copy.deepcopy(peer).eval()
    batch = encoded.take(torch.arange(min(200, len(encoded))))
    with torch.no_grad():
        for vectors in (larger.word_vectors, larger_peer.word_vectors):
            vectors.weight.mul_(10.0)
        a: Tensor = larger.run(batch, larger.embed(batch)).logits
        b: Tensor = larger_peer(batch.inputs, batch.lengths)
    return float((a - b).abs().max()) < TOLERANCE
