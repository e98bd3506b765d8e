import torch

from attnx import Finding, Lab, Study, UsageError, js_divergence


class SeedVariance(Study):
    """How far attention differs between models that differ in their training seed alone.

    JSD(a_s, a_t) of every example for every two seeds s and t, in nats, at most ln 2. The row of a
    seed is its mean over the other seeds; `median` takes the median over examples first. Beside it
    stands the divergence from uniform attention: the scale of what there is to differ in.
    """

    needs = ("attention",)

    def __call__(self, lab: Lab) -> list[Finding]:
        if len(lab.seeds) < 2:
            raise UsageError("seed-variance compares seeds: give two or more, as --seeds 0-4.")
        outputs = [lab.outputs(lab.model(seed)) for seed in lab.seeds]
        attention = torch.stack([output.attention for output in outputs]).double()  # [S, N, L]
        others = len(lab.seeds) - 1
        between = torch.stack([js_divergence(a, attention) for a in attention])  # [S, S, N], 0 for s = t
        medians = between.quantile(0.5, dim=2)  # [S, S], the mean of the two in the middle
        units = outputs[0].mask.double()
        uniform = units / units.sum(1, keepdim=True).clamp_min(1)  # [N, L]
        return [
            Finding("between seeds", "jsd", "down", (between.sum(1) / others).numpy()),
            Finding("between seeds", "median jsd", "down", (medians.sum(1, keepdim=True) / others).numpy()),
            Finding("from uniform", "jsd", "none", js_divergence(attention, uniform).numpy()),
            Finding("model", "accuracy", "up", torch.stack([o.correct for o in outputs]).numpy()),
        ]
