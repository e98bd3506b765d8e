"""Leave-one-out by deletion with a BiLSTM and additive attention: four ways to the same logits.

naive      one forward pass for each deletion
JW loop    one batch for each position, packed, gradients recorded: the original formulation
generic    all deletions of a batch of texts in batches of exact length, for any model
fast       the LSTM's own path, which reuses states
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from attnx.plugin import Batch, Example, TaskData, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.run.measuring.splits import batches
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.options import BiLstmOptions
from attnx_erasure.deletion import logits_without_each
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax

from .peers import PackedBiLstm, random_texts
from .timing import Row, Timed, best_of

REPEATS = 2
TOLERANCE = 1e-5

Logits = list[Tensor]  # by text: [units, C]
Traces = list[tuple[Tensor, Trace]]  # batches of texts, with the numbers of their texts


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of ours and of the peer, best of several, and whether both computed the same."""
    if tiny:
        short, long = random_texts(3, 2, 4), random_texts(2, 5, 6)
    else:
        short, long = random_texts(200, 15, 25), random_texts(12, 170, 190)
    of_short, of_long = _measure(short, naive=True), _measure(long, naive=False)
    return [
        _row("200 texts of ~20, LSTM path / JW loop", of_short, "fast", "JW loop", 8.0),
        _row("200 texts of ~20, generic / JW loop", of_short, "generic", "JW loop", 1.5),
        _row("200 texts of ~20, LSTM path / naive", of_short, "fast", "naive", 5.0),
        _limit("200 texts of ~20, LSTM path / bare matrix products", short),
        _row("12 texts of ~180, LSTM path / JW loop", of_long, "fast", "JW loop", 12.0),
        _row("12 texts of ~180, generic / JW loop", of_long, "generic", "JW loop", 1.5),
    ]


def _row(work: str, times: dict[str, Timed[Logits]], ours: str, peer: str, target: float) -> Row:
    pairs = zip(times[ours].result, times[peer].result, strict=True)
    difference = max(float((a - b).abs().max()) for a, b in pairs)
    return Row(work, times[ours].seconds, times[peer].seconds, target, difference < TOLERANCE)


def _limit(work: str, texts: Sequence[Example]) -> Row:
    """Against nothing but the matrix products that reuse of states leaves to do, as large as they get."""
    model, encoded = _model(texts)
    traces = _traces(model, encoded)
    a, b = torch.randn(1024, 128), torch.randn(128, 512)
    needed = max(1, round(sum(map(_flops, encoded.lengths.tolist())) / (2.0 * 1024 * 128 * 512)))

    def products() -> None:
        for _ in range(needed):
            torch.mm(a, b)

    def ours() -> None:
        _deletions(model, traces, BiLstm.without_each)

    best = best_of(10, {"ours": ours, "products": products})
    return Row(work, best["ours"].seconds, best["products"].seconds, 0.5, None)


def _measure(texts: Sequence[Example], naive: bool) -> dict[str, Timed[Logits]]:
    """What each way takes, and the logits it gives."""
    model, encoded = _model(texts)
    traces = _traces(model, encoded)
    peer = PackedBiLstm(model).eval()
    contestants: dict[str, Callable[[], Logits]] = {
        "JW loop": lambda: _position_by_position(peer, encoded),
        "generic": lambda: _deletions(model, traces, logits_without_each),
        "fast": lambda: _deletions(model, traces, BiLstm.without_each),
    }
    if naive:
        contestants["naive"] = lambda: _one_by_one(peer, encoded)
    return best_of(REPEATS, contestants)


def _model(texts: Sequence[Example]) -> tuple[BiLstm, Batch]:
    """A model to whose output every word matters, and the texts as it reads them."""
    torch.manual_seed(0)
    data = TaskData(tuple(texts), (), (), ("no", "yes"))
    model = BiLstm.build(data, Softmax(SoftmaxOptions()), BiLstmOptions()).eval()
    with torch.no_grad():
        model.word_vectors.weight.mul_(10.0)
    return model, model.encode(texts)


def _traces(model: BiLstm, encoded: Batch) -> Traces:
    with evaluating(model):
        return [(numbers, trace_of(model, batch)) for numbers, batch in batches(encoded)]


def _deletions(model: BiLstm, traces: Traces, without_each: Callable[[Any, Trace], Tensor]) -> Logits:
    """The logits of all deletions of texts that were read once already."""
    found: dict[int, Tensor] = {}
    with evaluating(model):
        for numbers, trace in traces:
            mask = trace.batch.mask
            logits = without_each(model, trace)[mask].split(mask.sum(1).tolist())  # by text: [units, C]
            found.update(zip(numbers.tolist(), logits, strict=True))
    return [found[number] for number in range(len(found))]


def _one_by_one(peer: PackedBiLstm, encoded: Batch) -> Logits:
    found = []
    with torch.no_grad():
        for row, length in enumerate(encoded.lengths.tolist()):
            ids = encoded.inputs[row, :length]
            each = []
            for gap in range(1, length - 1):
                shorter = torch.cat([ids[:gap], ids[gap + 1 :]])[None]
                each.append(peer(shorter, torch.tensor([length - 1])))
            found.append(torch.cat(each))
    return found


def _position_by_position(peer: PackedBiLstm, encoded: Batch) -> Logits:
    """Batches of 32 texts in order of length; position after position is deleted in all of them."""
    order = encoded.lengths.argsort(stable=True)
    found: dict[int, Tensor] = {}
    for numbers in order.split(32):
        batch = encoded.take(numbers)
        columns = batch.inputs.shape[1]
        logits = []
        for gap in range(1, columns - 1):
            shorter = torch.cat([batch.inputs[:, :gap], batch.inputs[:, gap + 1 :]], 1)  # [32, L-1]
            logits.append(peer(shorter, (batch.lengths - 1).clamp_min(1)).detach())
        for row, number in enumerate(numbers.tolist()):
            found[number] = torch.stack(logits, 1)[row, : int(batch.lengths[row]) - 2]
    return [found[number] for number in range(len(encoded))]


def _flops(n: int) -> float:
    """Floating-point operations of the matrix products that reuse of states leaves to do for n columns."""
    e, h, f = 300, 128, 128 + 2
    return 2.0 * 2 * (n * e * 4 * h + n * (n + 1) / 2 * h * 4 * h + n * (n - 1) / 2 * h * f)
