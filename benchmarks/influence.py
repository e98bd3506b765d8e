"""The influence of every word on every hidden state of a BiLSTM: three ways to the same numbers.

naive      one backward pass for each hidden state of each text
generic    one backward pass for each column of a batch of texts, for any model
fast       the LSTM's own path: all hidden states walk back together
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from peers import random_texts
from torch import Tensor

from attnx import Example, TaskData, Trace
from attnx.batching import evaluating
from attnx.measuring import trace_of
from attnx_influence.influence import one_pass_each
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax
from attnx_text.bilstm import BiLstm
from attnx_text.encoders import Bidirectional
from attnx_text.lstm_influence import lstm_influence
from attnx_text.model_options import BiLstmOptions

REPEATS = 3
TOLERANCE = 1e-4  # of the largest influence of a hidden state

Influence = Callable[[BiLstm, Trace], Tensor]


def rows() -> list[dict[str, Any]]:
    """Seconds of ours and of the peer, best of several, and whether both computed the same."""
    measured = []
    for words, texts in ((20, random_texts(64, 20, 20)), (180, random_texts(2, 180, 180))):
        times = _measure(texts)
        for peer, target in (("naive", 5.0), ("generic", 1.0)):
            ours, theirs = times["fast"], times[peer]
            measured.append(
                {
                    "work": f"influence, {len(texts)} texts of {words}, LSTM path / {peer}",
                    "ours": ours[0],
                    "peer": theirs[0],
                    "ratio": theirs[0] / ours[0],
                    "target": target,
                    "equal": _same(ours[1], theirs[1]),
                }
            )
        limit = len(texts) * _products(words + 2) / _products_per_second()
        measured.append(
            {
                "work": f"influence, {len(texts)} texts of {words}, LSTM path / products",
                "ours": times["fast"][0],
                "peer": limit,
                "ratio": limit / times["fast"][0],
                "target": 0.5,
                "equal": True,
            }
        )
    return measured


def _measure(texts: Sequence[Example]) -> dict[str, tuple[float, Tensor]]:
    """The fastest of several runs of each, taken in turns, with what it computed."""
    torch.manual_seed(0)
    data = TaskData(tuple(texts), (), (), ("no", "yes"))
    model = BiLstm.build(data, Softmax(SoftmaxOptions()), BiLstmOptions()).eval()
    contestants: dict[str, Influence] = {"naive": _naive, "generic": one_pass_each, "fast": _fast}
    best: dict[str, tuple[float, Tensor]] = {}
    with evaluating(model):
        trace = trace_of(model, model.encode(texts))
        for _ in range(REPEATS):
            for name, influence in contestants.items():
                start = time.perf_counter()
                found = influence(model, trace)
                seconds = time.perf_counter() - start
                if name not in best or seconds < best[name][0]:
                    best[name] = (seconds, found)
    units = trace.batch.mask
    pairs = units[:, :, None] & units[:, None]
    return {name: (seconds, found.double() * pairs) for name, (seconds, found) in best.items()}


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


def _products(n: int) -> float:
    """Floating-point operations of the matrix products of the walk back through n columns."""
    e, h = 300, 128
    return 2.0 * 2 * (n * (n + 1) / 2 * 4 * h * (e + h))


def _products_per_second() -> float:
    """The rate of float32 matrix products of the size at hand."""
    a, b = torch.randn(1024, 512), torch.randn(512, 300)
    best = float("inf")
    for _ in range(50):
        start = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - start)
    return 2.0 * 1024 * 512 * 300 / best


if __name__ == "__main__":
    for row in rows():
        verdict = "equal" if row["equal"] else "DIFFERENT"
        print(
            f"{row['work']:50} ours {row['ours']:7.3f} s  peer {row['peer']:7.3f} s  "
            f"{row['ratio']:5.2f} x (target {row['target']})  {verdict}"
        )
