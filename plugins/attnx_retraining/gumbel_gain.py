from __future__ import annotations

from typing import Any

import numpy as np

from attnx.plugin import Finding, Lab, Model, Study

from .information import measure_tau, require_information
from .options import GumbelGainOptions

Array = np.ndarray[Any, np.dtype[np.float64]]


class GumbelGain(Study):
    """Whether training with Gumbel noise makes attention follow information better.

    τ of `mi-kendall` for models trained with softmax and with gumbel-softmax. As in the paper, a setting
    (one model on one task) counts as a gain if τ rises or stays equal; settings with an undefined τ are
    not counted. Trains two models per setting and seed.
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
                Finding(name, "tau with softmax", "up", before, bounds=(-1, 1)),
                Finding(name, "tau with gumbel-softmax", "up", after, bounds=(-1, 1)),
                Finding(name, "gain", "none", gains[-1], bounds=(-2, 2)),
            ]
        every = np.concatenate(gains, axis=1)  # [S, settings]
        rises = np.where(np.isnan(every), np.nan, every >= 0)
        share = Finding("all settings", "share that gains", "none", rises, bounds=(0, 1))
        compared = [softmax for _, softmax, _ in settings]
        return [*findings, lab.with_published(share, "wen-table-5", share.measure, compared)]

    def _tau(self, lab: Lab, models: list[Model]) -> Array:
        """[S, 1], of the model of every seed."""
        pairs = zip(models, lab.seeds, strict=True)
        return np.array([[measure_tau(lab, model, seed, self.options.clusters).tau] for model, seed in pairs])
