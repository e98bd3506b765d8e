"""The influence of every word on every hidden state of a BiLSTM: three ways to the same numbers, and a limit.

naive      one backward pass for each hidden state of each text
generic    one backward pass for each column of a batch of texts, for any model
fast       the LSTM's own path: all hidden states walk back together
products   nothing but the matrix products that the walk back cannot do without
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from attnx.plugin import Example, TaskData, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.encoders import Bidirectional
from attnx_encoders.lstm_influence import lstm_influence
from attnx_encoders.options import BiLstmOptions
from attnx_influence.influence import one_pass_each
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax

from .peers import random_texts
from .timing import Row, Timed, best_of

REPEATS = 3
TOLERANCE = 1e-4  # of the largest influence of a hidden state

Influence = Callable[[BiLstm, Trace], Tensor]


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of ours and of the peer, best of several, and whether both computed the same."""
    measured = []
    for words, count in ((3, 2),) if tiny else ((20, 64), (180, 2)):
        texts = random_texts(count, words, words)
        times = _measure(texts)
        for peer, target in (("naive", 5.0), ("generic", 1.0), ("products", 0.6)):
            work = f"influence, {len(texts)} texts of {words}, LSTM path / {peer}"
            ours, theirs = times["fast"], times[peer]
            same = None if peer == "products" else _same(ours.result, theirs.result)
            measured.append(Row(work, ours.seconds, theirs.seconds, target, same))
    return measured


def _measure(texts: Sequence[Example]) -> dict[str, Timed[Tensor]]:
    """What each way takes, and the influences [B, P, L] of units on units it gives."""
    torch.manual_seed(0)
    data = TaskData(tuple(texts), (), (), ("no", "yes"))
    model = BiLstm.build(data, Softmax(SoftmaxOptions()), BiLstmOptions()).eval()
    contestants: dict[str, Influence] = {
        "naive": _naive,
        "generic": one_pass_each,
        "products": _products,
        "fast": _fast,
    }
    with evaluating(model):
        trace = trace_of(model, model.encode(texts))
        best = best_of(REPEATS, {name: partial(run, model, trace) for name, run in contestants.items()})
    units = trace.batch.mask
    pairs = units[:, :, None] & units[:, None]
    return {name: Timed(run.seconds, run.result.double() * pairs) for name, run in best.items()}


def _fast(model: BiLstm, trace: Trace) -> Tensor:
    assert isinstance(model.encoder, Bidirectional)
    return lstm_influence(model.encoder, trace.embeddings, trace.hidden, trace.batch.lengths)


def _naive(model: BiLstm, trace: Trace) -> Tensor:
    rows = torch.arange(len(trace.batch)).split(1)
    each = []
    for row in rows:
        alone = trace_of(model, trace.batch.take(row))
        each.append(one_pass_each(model, alone))
    return torch.cat(each)  # the texts are of one length


def _same(a: Tensor, b: Tensor) -> bool:
    scale = b.amax(2, keepdim=True).clamp_min(1e-30)
    return bool(((a - b).abs() / scale).max() < TOLERANCE)


def _products(model: BiLstm, trace: Trace) -> Tensor:
    """As many floating-point operations as the walk back needs, in products of a size that is fast."""
    e, h, n = trace.embeddings.shape[2], model.encoder.size // 2, trace.batch.inputs.shape[1]
    needed = len(trace.batch) * 2.0 * 2 * (n * (n + 1) / 2 * 4 * h * (e + h))
    a, b = torch.randn(1024, 4 * h), torch.randn(4 * h, e)
    for _ in range(max(1, round(needed / (2.0 * 1024 * 4 * h * e)))):
        torch.mm(a, b)
    return torch.zeros(len(trace.batch), n, n)
