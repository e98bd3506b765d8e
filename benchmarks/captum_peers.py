"""Captum as a person calls it: one text after another, on a function from embeddings to a probability."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from captum import attr
from captum._utils.models.linear_model import SkLearnRidge
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import Example, Model, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_captum.gradient_shap import GradientShap
from attnx_captum.subsets import Subsets
from attnx_gradient.smoothgrad import SmoothGrad

OWN = Randomness(0).to("importance it")  # as a method of that label gets it

Forward = Callable[[Tensor], Tensor]  # embeddings [R, T, E] -> logits [R, C]


@dataclass(frozen=True)
class Text:
    """One text in the terms of Captum."""

    trace: Trace  # of the model that we explain, for draws
    vectors: Tensor  # [1, T, E]
    units: Tensor  # [T] bool
    logits: Forward
    target: int

    def p(self, vectors: Tensor) -> Tensor:
        """[R] the probability of the explained class."""
        return self.logits(vectors).softmax(-1)[:, self.target]

    @property
    def baseline(self) -> Tensor:
        """[1, T, E] zeros in place of words."""
        return self.vectors.masked_fill(self.units[None, :, None], 0.0)

    @property
    def features(self) -> Tensor:
        """[1, T, 1] a number for every word; columns that are no words, which never change, share one."""
        return (self.units.cumsum(0) - 1).masked_fill(~self.units, 0)[None, :, None]


def texts_of(model: Model, examples: Sequence[Example]) -> list[Text]:
    """Texts that Captum explains by calls of `model.run`."""
    found = []
    for example in examples:
        batch = model.encode([example])
        with evaluating(model):
            trace = trace_of(model, batch)

        def logits(vectors: Tensor, batch=batch) -> Tensor:  # type: ignore[no-untyped-def]
            rows = torch.zeros(len(vectors), dtype=torch.long)
            return model.run(batch.take(rows), vectors).logits

        found.append(Text(trace, trace.embeddings, batch.mask[0], logits, int(trace.predicted)))
    return found


def texts_of_stock(model: Model, stock: Any, examples: Sequence[Example]) -> list[Text]:
    """Texts that Captum explains by calls of a stock model of transformers."""
    return [
        Text(
            trace=text.trace,
            vectors=text.vectors,
            units=text.units,
            logits=lambda vectors: stock(inputs_embeds=vectors).logits,
            target=text.target,
        )
        for text in texts_of(model, examples)
    ]


def integrated_gradients(text: Text, at_once: int | None, steps: int) -> Tensor:
    """[words]."""
    method = attr.IntegratedGradients(text.p)
    found = method.attribute(text.vectors, text.baseline, n_steps=steps, internal_batch_size=at_once)
    return found[0].sum(-1)[text.units].detach()


def gradient_shap(text: Text, samples: int, stdev: float) -> Tensor:
    """[words], at points of Captum's own."""
    method = attr.GradientShap(text.p)
    found = method.attribute(text.vectors, text.baseline, n_samples=samples, stdevs=stdev)
    return found[0].sum(-1)[text.units].detach()


def smoothgrad(text: Text, samples: int, stdev: float) -> Tensor:
    """[words] gradient·embedding, with noise of Captum's own."""
    tunnel = attr.NoiseTunnel(attr.Saliency(text.p))
    found = tunnel.attribute(text.vectors, nt_samples=samples, stdevs=stdev, abs=False)
    return (found * text.vectors)[0].sum(-1)[text.units].detach()


def gradient_shap_at_ours(text: Text, method: GradientShap) -> Tensor:
    """[words], Captum's method at the points that ours draws."""
    points = method.points(text.trace, OWN)
    total = torch.zeros_like(text.vectors)
    for number, share in enumerate(points.share):
        away = points.directions(torch.tensor([number]), torch.tensor([0]))
        drawn = (1 - share).double().numpy()
        with patch.object(np.random, "uniform", lambda *_, drawn=drawn: drawn):
            found = attr.GradientShap(text.p).attribute(text.vectors, text.vectors - away, n_samples=1)
        total += found.detach()
    return (total / points.count)[0].sum(-1)[text.units]


def smoothgrad_at_ours(text: Text, method: SmoothGrad) -> Tensor:
    """[words] gradient·embedding, Captum's method with the noise that ours draws."""
    points = method.points(text.trace, OWN)
    numbers = torch.arange(points.count)
    noise = -points.share[:, :, None] * points.directions(numbers, torch.zeros_like(numbers))
    with patch.object(torch, "normal", lambda *_: noise):
        return smoothgrad(text, points.count, 1.0)


def lime(text: Text, subsets: Subsets, at_once: int) -> Tensor:
    """[words] a ridge regression on these subsets."""
    weights = iter(subsets.weights.tolist())
    method = attr.Lime(
        text.p,
        SkLearnRidge(alpha=1.0),
        similarity_func=lambda *_, **__: next(weights),
        perturb_func=_rows_of(subsets),
    )
    return _attributed(method, text, subsets, at_once)


def kernel_shap(text: Text, subsets: Subsets, at_once: int) -> Tensor:
    """[words] Kernel SHAP on these subsets."""
    method = attr.KernelShap(text.p)
    method.perturb_func = _rows_of(subsets)
    return _attributed(method, text, subsets, at_once)


def ablation(text: Text, at_once: int) -> Tensor:
    """[words]."""
    with torch.no_grad():
        found = attr.FeatureAblation(text.p).attribute(
            text.vectors, text.baseline, feature_mask=text.features, perturbations_per_eval=at_once
        )
    return found[0, :, 0][text.units]


def _attributed(method: attr.Lime, text: Text, subsets: Subsets, at_once: int) -> Tensor:
    with torch.no_grad():
        found: Tensor = method.attribute(
            text.vectors,
            text.baseline,
            feature_mask=text.features,
            n_samples=len(subsets.present),
            perturbations_per_eval=at_once,
            return_input_shape=False,
        )
    return found.flatten()


def _rows_of(subsets: Subsets) -> Callable[..., Iterator[Tensor]]:
    def rows(*_: Any, **__: Any) -> Iterator[Tensor]:
        yield from subsets.present.long().split(1)

    return rows
