"""Importance methods next to Captum, for a BiLSTM and a classifier of MiniLM's shape, on short sentences.

ours    the method as a run computes it, for all sentences
peer    Captum, sentence by sentence, at the fastest of several sizes of its passes

gradient-shap and SmoothGrad are timed with draws of their own and compared at the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnx.plugin import Example, ImportanceMethod, Model, TaskData, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, attribute, trace_of
from attnx.run.measuring.splits import Split, batches
from attnx_captum.feature_ablation import FeatureAblation
from attnx_captum.gradient_shap import GradientShap
from attnx_captum.integrated_gradients import IntegratedGradients
from attnx_captum.kernel_shap import KernelShap
from attnx_captum.kernel_shap import draw as draw_shapley
from attnx_captum.lime import Lime
from attnx_captum.options import (
    BaselineOptions,
    GradientShapOptions,
    IntegratedGradientsOptions,
    KernelShapOptions,
    LimeOptions,
)
from attnx_captum.subsets import Subsets, _drawn
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.lstm_replacement import _steps
from attnx_encoders.options import BiLstmOptions
from attnx_gradient.options import SmoothGradOptions
from attnx_gradient.smoothgrad import SmoothGrad
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax

from . import captum_peers as captum
from .captum_peers import OWN, Text
from .minilm import SIZE, WIDE, classifier, pass_operations
from .peers import random_texts
from .timing import Row, best_of, seconds_of


@dataclass(frozen=True, slots=True)
class Size:
    """How much every method computes, and how often."""

    steps: int = 50  # of integrated gradients
    samples: int = 256  # of LIME and Kernel SHAP
    draws: int = 20  # of gradient-shap and SmoothGrad
    repeats: int = 3


TINY = Size(steps=3, samples=12, draws=3, repeats=1)
TOLERANCE = 1e-3  # of the largest score of a text
CPU = torch.device("cpu")

Scores = list[Tensor]  # by text: [words]


def rows(tiny: bool = False) -> Iterator[Row]:
    """Seconds of ours and of Captum, and whether both computed the same."""
    size = TINY if tiny else Size()
    texts = random_texts(2, 3, 4) if tiny else random_texts(12, 18, 26)
    torch.manual_seed(0)
    data = TaskData(tuple(texts), (), (), ("no", "yes"))
    bilstm = BiLstm.build(data, Softmax(SoftmaxOptions()), BiLstmOptions()).eval()
    with torch.no_grad():
        bilstm.word_vectors.weight.mul_(10.0)  # large enough for words to matter
    peers = captum.texts_of(bilstm, texts)
    yield from _rows(
        "BiLSTM", size, bilstm, texts, peers, (None, 25), (64, 256), (1.8, 2.2), _lstm_operations
    )
    with classifier() as (minilm, stock):
        texts = texts if tiny else random_texts(2, 20, 24)
        stock.model.set_attn_implementation("sdpa")
        stock.model.requires_grad_(False)
        peers = captum.texts_of_stock(minilm, stock.model, texts)
        yield from _rows(
            "MiniLM", size, minilm, texts, peers, (None, 10), (32, 64), (1.3, 1.15), _minilm_operations
        )


def _rows(
    name: str,
    size: Size,
    model: Model,
    texts: Sequence[Example],
    peers: Sequence[Text],
    sizes: Sequence[int | None],
    perturbed: Sequence[int],
    targets: tuple[float, float],
    operations: Callable[[str, Size, Text], float],
) -> Iterator[Row]:
    shap, smooth = GradientShap(GradientShapOptions(samples=size.draws)), _smoothgrad(size.draws)
    stdev = [0.1 * float(text.vectors[0, text.units].square().mean().sqrt()) for text in peers]
    lime, kernel = (
        Lime(LimeOptions(samples=size.samples)),
        KernelShap(KernelShapOptions(samples=size.samples)),
    )
    of_lime = [_subsets(lime, text) for text in peers]
    of_kernel = [_subsets(kernel, text) for text in peers]
    ig = IntegratedGradients(IntegratedGradientsOptions(steps=size.steps))

    def each(run: Callable[..., Tensor], *given: Any, **more: Any) -> Callable[[], Scores]:
        """Captum on every text; each of `given` has something for each text."""
        return lambda: [run(text, *one, **more) for text, *one in zip(peers, *given, strict=True)]

    work: list[tuple[str, ImportanceMethod, dict[str, Callable[[], Scores]], Callable[[], Scores] | None]] = [
        ("integrated-gradients", ig,
         {f"{n}": each(captum.integrated_gradients, at_once=n, steps=size.steps) for n in sizes}, None),
        ("gradient-shap", shap, {"": each(captum.gradient_shap, [size.draws] * len(peers), stdev)},
         each(partial(captum.gradient_shap_at_ours, method=shap))),
        ("smoothgrad", smooth, {"": each(captum.smoothgrad, [size.draws] * len(peers), stdev)},
         each(partial(captum.smoothgrad_at_ours, method=smooth))),
        ("lime", lime, {f"{n}": each(captum.lime, of_lime, at_once=n) for n in perturbed}, None),
        ("kernel-shap", kernel,
         {f"{n}": each(captum.kernel_shap, of_kernel, at_once=n) for n in perturbed}, None),
        ("feature-ablation", FeatureAblation(BaselineOptions()),
         {f"{n}": each(partial(captum.ablation, at_once=n)) for n in (8, 32)}, None),
    ]  # fmt: skip
    for method_name, method, contestants, same_draws in work:
        with evaluating(model):
            ours_of = partial(_ours, model, _traces(model, texts), method)
            times = best_of(size.repeats, {"ours": ours_of, **contestants})
            ours = times.pop("ours")
            expected = min(times.values(), key=lambda timed: timed.seconds)
            compared = same_draws() if same_draws is not None else expected.result
        gradient = method_name in ("integrated-gradients", "gradient-shap", "smoothgrad")
        yield Row(
            work=f"{method_name}, {name}, {len(texts)} texts of ~22 / Captum",
            ours=ours.seconds,
            peer=expected.seconds,
            target=targets[0] if gradient else targets[1],
            equal=_same(ours.result, compared),
            limit=seconds_of(sum(operations(method_name, size, text) for text in peers)),
        )


def _smoothgrad(draws: int) -> SmoothGrad:
    return SmoothGrad(SmoothGradOptions(samples=draws, reduce="signed", normalise=False))


def _traces(model: Model, texts: Sequence[Example]) -> list[tuple[Tensor, Trace]]:
    """Batches of texts that were read once already, with the numbers of their texts."""
    return [(numbers, trace_of(model, batch)) for numbers, batch in batches(Split(model, texts, CPU))]


def _ours(model: Model, traces: Sequence[tuple[Tensor, Trace]], method: ImportanceMethod) -> Scores:
    found: dict[int, Tensor] = {}
    for numbers, trace in traces:
        values = attribute(Named("it", method), model, trace, trace.predicted).values
        found.update(
            (number, values[row][trace.batch.mask[row]]) for row, number in enumerate(numbers.tolist())
        )
    return [found[number] for number in range(len(found))]


def _subsets(method: Lime | KernelShap, text: Text) -> Subsets:
    """The subsets that our method draws for a text."""
    draw = method._draw if isinstance(method, Lime) else draw_shapley
    return _drawn(draw, text.trace, 0, OWN, method.options)


def _same(ours: Scores, theirs: Scores) -> bool:
    pairs = zip(ours, theirs, strict=True)
    return all(float((a - b).abs().max()) <= TOLERANCE * float(b.abs().max()) for a, b in pairs)


def _lstm_operations(method: str, size: Size, text: Text) -> float:
    """What the LSTM's own path cannot do without: products, by the number of columns, states and points."""
    e, h, read = 300, 128, 128 + 2
    n = len(text.units)
    words = 2 * 2.0 * n * e * 4 * h  # the input weights times each word once
    step, decode = 2.0 * h * 4 * h, 2.0 * h * read  # of one state of one direction
    if method in ("integrated-gradients", "gradient-shap", "smoothgrad"):
        points = size.steps if method == "integrated-gradients" else size.draws
        noise = 0.0 if method == "integrated-gradients" else words * size.draws / 2
        return words + noise + points * n * 2 * 2 * (step + decode)  # forward and backward
    absent = _absent(method, size, text)
    own = torch.zeros(len(absent), dtype=torch.long)
    states = sum(len(at.input) for way in (absent, absent.flip(1)) for at in _steps(own, way))
    return 2 * words + states * (step + decode)


def _absent(method: str, size: Size, text: Text) -> Tensor:
    """[S, T] the words that the perturbed texts of a method lack."""
    columns = text.units.nonzero()[:, 0]
    if method == "feature-ablation":
        return columns[:, None] == torch.arange(len(text.units))
    options = (Lime(LimeOptions(samples=size.samples)) if method == "lime"
               else KernelShap(KernelShapOptions(samples=size.samples)))  # fmt: skip
    present = _subsets(options, text).present  # [S, words]
    absent = torch.zeros(len(present), len(text.units), dtype=torch.bool)
    absent[:, columns] = present == 0
    return absent


def _minilm_operations(method: str, size: Size, text: Text) -> float:
    """Forward passes, twice as much with a backward pass; the last layer ends with its first position."""
    n = len(text.units)
    once = pass_operations(n) - 2.0 * (n - 1) * 2 * SIZE * WIDE
    passes = {
        "integrated-gradients": 2 * size.steps,
        "gradient-shap": 2 * size.draws,
        "smoothgrad": 2 * size.draws,
        "feature-ablation": int(text.units.sum()),
    }
    return once * passes.get(method, size.samples)
