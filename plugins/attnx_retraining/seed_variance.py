import math

import torch

from attnx.formulas import js_divergence
from attnx.plugin import Finding, Lab, Study, UsageError

JSD = (0, math.log(2))  # bounds in nats


class SeedVariance(Study):
    """How much attention differs between training runs that differ only in their seed.

    JSD(a_s, a_t) in nats, at most ln 2, for every example and every two seeds s and t: its mean and its
    median over the pairs of seeds. Pairs share seeds, so the interval covers examples only, for these
    seeds. For scale, the divergence from uniform attention is reported too. Needs at least two seeds,
    e.g. --seeds 0-4.
    """

    needs = ("attention",)

    def __call__(self, lab: Lab) -> list[Finding]:
        if len(lab.seeds) < 2:
            raise UsageError("seed-variance compares seeds: give at least two, e.g. --seeds 0-4.")
        outputs = [lab.outputs(lab.model(seed)) for seed in lab.seeds]
        first, second = torch.triu_indices(len(outputs), len(outputs), 1)  # [P] each, every pair once
        by_example = zip(*(output.attention for output in outputs), strict=True)
        attentions = [torch.stack(of_seeds).double() for of_seeds in by_example]  # N of [S, n]
        between = torch.stack([js_divergence(a[first], a[second]) for a in attentions], 1)  # [P, N]
        uniform = torch.stack([js_divergence(a, _uniform(a)) for a in attentions], 1)  # [S, N]
        middle = between.quantile(0.5, 0, keepdim=True)  # [1, N]
        correct = torch.stack([output.correct for output in outputs])  # [S, N]
        return [
            Finding("between seeds", "jsd", "down", between.mean(0, keepdim=True).numpy(), bounds=JSD),
            Finding("between seeds", "median jsd", "down", middle.numpy(), bounds=JSD),
            Finding("from uniform", "jsd", "none", uniform.numpy(), bounds=JSD),
            Finding("model", "accuracy", "up", correct.numpy(), bounds=(0, 1)),
        ]


def _uniform(attention: torch.Tensor) -> torch.Tensor:
    return torch.full_like(attention, 1 / max(1, attention.shape[-1]))
