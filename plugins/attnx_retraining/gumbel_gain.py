from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attnx import Finding, Lab, Model, Study

from .information import measure_tau, require_information
from .options import GumbelGainOptions
from .published import task_name

Array = np.ndarray[Any, np.dtype[np.float64]]

CLASSIFICATION = ("sst", "imdb", "agnews", "adr-tweets", "20news", "anemia", "diabetes")
ENCODERS = {"bilstm", "cnn", "mlp"}
PUBLISHED = {  # share of settings, by kind of task and scorer
    ("classification", "deep"): 20 / 21,
    ("classification", "dot"): 19 / 21,
    ("classification", "additive"): 20 / 21,
}


class GumbelGain(Study):
    """Whether attention tracks information better when trained with Gumbel noise.

    τ of mi-kendall for models trained with softmax and with gumbel-softmax. A setting, one model on
    one task, counts as a gain where τ rises or stays, as the paper counts; where τ is undefined the
    setting is left out of the count.
    """

    needs = ("attention", "projection", "hidden")

    def __init__(self, options: GumbelGainOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        require_information(lab, self.options.clusters)
        noisy = f"gumbel-softmax:temperature={self.options.temperature}"
        names = self.options.models or (lab.setting.model.label,)
        chosen = [{"model": name} for name in self.options.models] or [{}]  # {}: the model of the study
        settings = [  # resolved before any training
            (name, lab.variant(**model, projection="softmax"), lab.variant(**model, projection=noisy))
            for name, model in zip(names, chosen, strict=True)
        ]
        findings: list[Finding] = []
        gains: list[Array] = []
        for name, softmax, gumbel in settings:
            before = self._tau(lab, [lab.model(seed, softmax) for seed in lab.seeds])  # [S, 1]
            after = self._tau(lab, [lab.model(seed, gumbel) for seed in lab.seeds])  # [S, 1]
            gains.append(after - before)
            findings += [
                Finding(name, "tau with softmax", "up", before),
                Finding(name, "tau with gumbel-softmax", "up", after),
                Finding(name, "gain", "none", gains[-1]),
            ]
        every = np.concatenate(gains, axis=1)  # [S, settings]
        rises = np.where(np.isnan(every), np.nan, every >= 0)
        share = Finding("all settings", "share that gains", "none", rises)
        models = [softmax.model for _, softmax, _ in settings]
        encoders = {model.name for model in models}
        scorers = {model.options.get("scorer", "") for model in models}
        return [*findings, _beside_published(share, task_name(lab), encoders, scorers)]

    def _tau(self, lab: Lab, models: list[Model]) -> Array:
        """[S, 1], of the model of every seed."""
        pairs = zip(models, lab.seeds, strict=True)
        return np.array([[measure_tau(lab, model, seed, self.options.clusters).tau] for model, seed in pairs])


def _beside_published(share: Finding, task: str, encoders: set[str], scorers: set[str]) -> Finding:
    """The share with that of the paper's cell, if all models have its scorer and encoders."""
    kind = "classification" if task in CLASSIFICATION else task
    key = (kind, scorers.pop() if len(scorers) == 1 else "")
    if key not in PUBLISHED or not encoders <= ENCODERS:
        return share
    return replace(share, published=PUBLISHED[key], source="Wen et al., table 5")
