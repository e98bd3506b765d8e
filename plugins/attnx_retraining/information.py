"""τ between attention and information, for a model and a retrained variant of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnx.plugin import Finding, Lab, Model, UsageError


@dataclass(frozen=True, slots=True)
class Tau:
    """Weighted Kendall τ between attention and mutual information by rank."""

    tau: float
    corrected: float  # for the bias of the estimate


def require_information(lab: Lab, clusters: int | str) -> None:
    """Reject before any training what could not be measured after it."""
    lab.require("metric", "mi-kendall")
    tests = len(lab.data.test)
    if isinstance(clusters, int) and tests < 2 * clusters:
        raise UsageError(
            f"mi-kendall with {clusters} clusters needs {2 * clusters} test examples and there are {tests}: "
            f"give clusters={max(2, tests // 2)} or fewer, or more test examples."
        )


def measure_tau(lab: Lab, model: Model, seed: int, clusters: int | str) -> Tau:
    """Return the values of mi-kendall for a model's attention on the test split."""
    (found,) = lab.measure(model, seed, [f"mi-kendall:clusters={clusters}"])
    by_name = dict(zip((measure.name for measure in found.measures), found.values[0], strict=True))
    return Tau(float(by_name["tau"]), float(by_name["tau-corrected"]))


def compare_information(
    lab: Lab,
    setting: str,
    make: Callable[[Model, int], Model],
    clusters: int | str,
    published: bool = True,
) -> list[Finding]:
    """Compare τ and accuracy of the model and of the result of `make`; Δτ = τ_normal − τ_setting."""
    require_information(lab, clusters)
    normal = [lab.model(seed) for seed in lab.seeds]
    special = [make(model, seed) for model, seed in zip(normal, lab.seeds, strict=True)]
    models = {"normal": normal, setting: special}
    taus = {
        name: [measure_tau(lab, m, s, clusters) for m, s in zip(found, lab.seeds, strict=True)]
        for name, found in models.items()
    }
    findings: list[Finding] = []
    for name, found in models.items():
        correct = np.stack([lab.outputs(model).correct.numpy() for model in found])  # [S, N]
        findings += [
            Finding(name, "tau", "up", np.array([[t.tau] for t in taus[name]]), bounds=(-1, 1)),
            Finding(
                name, "tau corrected", "up", np.array([[t.corrected] for t in taus[name]]), bounds=(-1, 1)
            ),
            Finding(name, "accuracy", "up", correct, bounds=(0, 1)),
        ]
    pairs = list(zip(taus["normal"], taus[setting], strict=True))
    apart = np.array([[n.tau - s.tau] for n, s in pairs])
    lost = Finding(setting, "tau lost", "none", apart, bounds=(-2, 2))
    corrected = np.array([[n.corrected - s.corrected] for n, s in pairs])
    return [
        *findings,
        lab.with_published(lost, "wen-table-2", setting) if published else lost,
        Finding(setting, "tau corrected lost", "none", corrected, bounds=(-2, 2)),
    ]
