from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attnx.plugin import Example, Finding, Lab, Study, TaskData

from .removal_options import RecursiveRoarOptions

Array = np.ndarray[Any, np.dtype[np.float64]]


class RecursiveRoar(Study):
    """How fast a model that is trained again gets worse when the top units are removed, step by step.
    Recursive ROAR: explain the model, remove the top share of the units (words, image patches, ...) of
    every training, dev and test example, train a new model on what is left, explain that one, and so on.
    The share is one of the units that an example had at first, rounded up, and one unit always stays.
    `racu` is the area between the accuracy curves of random removal and of the explanation, as a share of
    the area between random removal and always predicting the most frequent test label: 0 is as bad as
    random, below 0 worse, and 1 means that the first step removed everything that helps. Trains one model
    per step, explanation and seed, and as many for random scores.
    """

    needs = ("deletion",)
    cost = "one training run per step, explanation and seed, and as many for random scores"
    cannot = (
        "what one trained model uses: every step is about a new model, which may learn from what is left. If "
        "the same information is in many units, no explanation gets far"
    )

    def __init__(self, options: RecursiveRoarOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        names = self.options.compared
        lab.variant(explanations=names)  # refuses, before any training, what does not fit the model
        curves = {
            name: np.stack([self._correct(lab, name, seed) for seed in lab.seeds]) for name in names
        }  # [S, steps + 1, N] each
        labels = Counter(example.label for example in lab.data.test)
        floor = max(labels.values()) / len(lab.data.test)
        random = curves["random"].mean(2)  # [S, steps + 1]
        findings = []
        for name in names:
            if name != "random":
                values = np.array(
                    [[racu(b, p, floor)] for b, p in zip(random, curves[name].mean(2), strict=True)]
                )
                findings.append(Finding(name, "racu", "up", values))
        for name in names:
            for step in range(self.options.steps + 1):
                removed = f"accuracy, {step * self.options.share:g} % removed"
                findings.append(Finding(name, removed, "none", curves[name][:, step], bounds=(0, 1)))
        return findings

    def _correct(self, lab: Lab, name: str, seed: int) -> Array:
        """[steps + 1, N] whether the model of every step is right."""
        first, bench, found = lab.data, lab, []
        for step in range(self.options.steps + 1):
            model = bench.model(seed)
            found.append(bench.outputs(model).correct.numpy())
            if step < self.options.steps:
                share = (step + 1) * self.options.share / 100
                splits = [
                    [
                        _shorter(before, whole, scores.numpy(), share, np.random.default_rng([seed, row]))
                        for row, (before, whole, scores) in enumerate(
                            zip(now, original, bench.scores(model, seed, [name], now)[name], strict=True)
                        )
                    ]
                    for now, original in zip(_splits(bench.data), _splits(first), strict=True)
                ]
                train, dev, test = map(tuple, splits)
                bench = bench.on(replace(bench.data, train=train, dev=dev, test=test))
        return np.stack(found)


def _splits(data: TaskData) -> tuple[Sequence[Example], ...]:
    return data.train, data.dev, data.test


def _shorter(
    example: Example, whole: Example, scores: Array, share: float, rng: np.random.Generator
) -> Example:
    """The example without its highest-scored units, so that a share of those of the whole one is gone."""
    left = max(1, len(whole.units) - int(np.ceil(len(whole.units) * share - 1e-9)))
    order = np.lexsort((rng.random(len(scores)), -scores))  # ties at random
    return example.keep(sorted(order[len(order) - left :].tolist()))


def racu(random: Array, explained: Array, floor: float) -> float:
    """The relative area between the accuracy curves [steps + 1] of random removal and of an explanation.

    NaN if random removal is no better than always predicting one label from the beginning.
    """
    whole = np.trapezoid(random - floor)
    return float(np.trapezoid(random - explained) / whole) if whole > 0 else float("nan")
