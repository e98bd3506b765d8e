import math

import numpy as np
import torch

from attnx.formulas import js_divergence, total_variation
from attnx.plugin import Finding, Lab, Model, Outputs, Study

from .adversary import frozen, unfrozen
from .information import measure_tau, require_information
from .options import AdversarialModelOptions

SWEEP = (0.001, 0.01, 0.1, 1.0)
NO_COST = 0.01  # largest loss of accuracy on dev that counts as no loss
KINDS = {"frozen": frozen, "unfrozen": unfrozen}


class AdversarialModel(Study):
    """How far attention can differ from a model's attention while the outputs stay the same.

    An adversary M_a of a base model M_b minimises TVD(p_a, p_b) − λ·KL(a_a ‖ a_b), where TVD = ½·Σ_c |p_c
    − q_c| (for two classes twice the value of Wiegreffe and Pinter, and so is λ). A frozen adversary
    starts as M_b, and only its attention parameters are trained (our reading of the papers; moves=all
    trains the rest too). An unfrozen adversary is a new model. If the attention of a frozen model can be
    replaced, attention explains little; an unfrozen model may have moved its information to the units
    (words, image patches, ...) it attends to. `jsd` and `tvd` are distances between adversary and base,
    per example; a large jsd with a small tvd speaks against attention as an explanation.

    The result depends on λ: if λ is small, M_b itself is a local minimum, around which TVD grows linearly
    and KL quadratically; if it is large, the output is lost. So several λ are tried, and `at no cost`
    repeats the adversary that is farthest on dev among those that lose at most .01 of accuracy there, or
    the one that loses least. Published values of Wen et al. are shown at their λ; Meister et al. give
    none. Trains one model per λ, adversary and seed.
    """

    needs = ("attention",)

    def __init__(self, options: AdversarialModelOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        if self.options.information:
            require_information(lab, self.options.clusters)
        bases = [lab.model(seed) for seed in lab.seeds]
        right = _correct([lab.outputs(model) for model in bases])
        accuracy = Finding("base", "accuracy", "up", right, bounds=(0, 1))
        findings = [lab.with_published(accuracy, "meister-table-3", "accuracy")]
        if self.options.information:
            findings.append(Finding("base", "tau", "up", self._taus(lab, bases), bounds=(-1, 1)))
        return [*findings, *(f for kind in self.options.adversaries for f in self._swept(lab, kind, bases))]

    def _swept(self, lab: Lab, kind: str, bases: list[Model]) -> list[Finding]:
        """Train the adversaries of every λ, and repeat the one that goes farthest at no cost."""
        theirs = lab.published("wen-table-3", "lambda")
        sweep = self.options.divergences or sorted({*SWEEP, *([] if theirs is None else [theirs])})
        found: dict[float, list[Finding]] = {}
        dev: dict[float, tuple[float, float]] = {}
        for divergence in sweep:
            models = [
                KINDS[kind](lab, base, seed, self.options, divergence)
                for base, seed in zip(bases, lab.seeds, strict=True)
            ]
            compared = self._compared(lab, f"{kind}, λ = {divergence:g}", models, bases)
            if self.options.distance == "kl" and divergence == theirs:
                compared = [_beside(finding, lab, kind) for finding in compared]
            found[divergence], dev[divergence] = compared, _on_dev(lab, models, bases)
        free = [divergence for divergence in sweep if dev[divergence][1] <= NO_COST]
        if free:
            best, cost = max(free, key=lambda divergence: dev[divergence][0]), "no cost"
        else:
            best, cost = min(sweep, key=lambda divergence: dev[divergence][1]), "least cost"
        name = f"{kind}, at {cost} (λ = {best:g})"
        again = [Finding(name, f.measure, f.direction, f.values, bounds=f.bounds) for f in found[best]]
        return [*(f for findings in found.values() for f in findings), *again]

    def _compared(self, lab: Lab, name: str, adversaries: list[Model], bases: list[Model]) -> list[Finding]:
        """Compare adversaries with their bases on the test split."""
        theirs, ours = ([lab.outputs(model) for model in models] for models in (adversaries, bases))
        pairs = list(zip(theirs, ours, strict=True))
        jsd = torch.stack([_attention_apart(a, b) for a, b in pairs])  # [S, N]
        tvd = torch.stack([total_variation(a.probabilities, b.probabilities) for a, b in pairs])  # [S, N]
        findings = [
            Finding(name, "jsd", "none", jsd.numpy(), bounds=(0, math.log(2))),
            Finding(name, "tvd", "down", tvd.double().numpy(), bounds=(0, 1)),
            Finding(name, "accuracy", "up", _correct(theirs), bounds=(0, 1)),
            Finding(name, "accuracy lost", "down", _correct(ours) - _correct(theirs), bounds=(-1, 1)),
        ]
        if self.options.information:
            before, after = (self._taus(lab, models) for models in (bases, adversaries))
            findings.append(Finding(name, "tau", "up", after, bounds=(-1, 1)))
            findings.append(Finding(name, "tau lost", "none", before - after, bounds=(-2, 2)))
        return findings

    def _taus(self, lab: Lab, models: list[Model]) -> np.ndarray:
        """[S, 1] τ of mi-kendall."""
        return np.array(
            [
                [measure_tau(lab, model, seed, self.options.clusters).tau]
                for model, seed in zip(models, lab.seeds, strict=True)
            ]
        )


def _beside(finding: Finding, lab: Lab, kind: str) -> Finding:
    """Add the values of Wen et al., whose adversaries are unfrozen."""
    if kind == "frozen" or finding.measure == "accuracy lost":
        return finding
    table = "wen-table-4" if finding.measure == "tau lost" else "wen-table-3"
    return lab.with_published(finding, table, finding.measure)


def _on_dev(lab: Lab, adversaries: list[Model], bases: list[Model]) -> tuple[float, float]:
    """Return the mean divergence of attention, and the accuracy lost, on dev; test is not used to choose."""
    pairs = [
        (lab.outputs(adversary, lab.data.dev), lab.outputs(base, lab.data.dev))
        for adversary, base in zip(adversaries, bases, strict=True)
    ]
    jsd = [_attention_apart(a, b).mean() for a, b in pairs]
    lost = [(b.correct - a.correct).mean() for a, b in pairs]
    return float(torch.stack(jsd).mean()), float(torch.stack(lost).mean())


def _attention_apart(a: Outputs, b: Outputs) -> torch.Tensor:
    """Return [N] the divergence between the attentions of every example."""
    both = zip(a.attention, b.attention, strict=True)
    return torch.stack([js_divergence(p.double(), q.double()) for p, q in both])


def _correct(outputs: list[Outputs]) -> np.ndarray:
    return torch.stack([output.correct for output in outputs]).numpy()  # [S, N]
