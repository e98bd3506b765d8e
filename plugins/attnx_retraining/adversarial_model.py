import numpy as np
import torch

from attnx import Finding, Lab, Model, Outputs, Study, js_divergence, total_variation

from .adversary import frozen, unfrozen
from .information import measure_tau, require_information
from .options import AdversarialModelOptions
from .published import MEISTER_3, MEISTER_5, WEN_3, WEN_4, WEN_DIVERGENCES


class AdversarialModel(Study):
    """How far attention can be driven from a model's while its outputs are kept.

    An adversary M_a of the base M_b minimises TVD(p_a, p_b) − λ·KL(a_a ‖ a_b). Frozen, it starts as
    M_b, and nothing but its attention parameters is free (which is how we read the papers; moves=all
    frees the rest as well); unfrozen, it is an entirely new model. Attention that can be replaced in a
    frozen model explains little; an unfrozen one may have moved its information to the units it attends
    to. jsd and tvd are between adversary and base, example by example.

    M_b itself is a local minimum where λ is small: around it TVD grows linearly, KL as the square.
    A frozen adversary leaves it only for a λ near 1; an unfrozen one has the λ of Wen et al.
    """

    needs = ("attention",)

    def __init__(self, options: AdversarialModelOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        if self.options.information:
            require_information(lab, self.options.clusters)
        bases = [lab.model(seed) for seed in lab.seeds]
        models = {
            "base": bases,
            "frozen": [
                frozen(lab, base, seed, self.options) for base, seed in zip(bases, lab.seeds, strict=True)
            ],
            "unfrozen": [
                unfrozen(lab, base, seed, self.options) for base, seed in zip(bases, lab.seeds, strict=True)
            ],
        }
        outputs = {name: [lab.outputs(model) for model in found] for name, found in models.items()}
        accuracy = Finding("base", "accuracy", "up", _correct(outputs["base"]))
        findings = [MEISTER_3.beside(accuracy, lab)]
        for name in ("frozen", "unfrozen"):
            found = _compared(name, outputs[name], outputs["base"])
            findings += [self._beside(lab, finding, name, finding.measure) for finding in found]
        return findings + (self._information(lab, models) if self.options.information else [])

    def _beside(self, lab: Lab, finding: Finding, *row: str) -> Finding:
        """The published value, where the adversary was driven as the paper's, as far as that is known."""
        options, (least, most) = self.options, WEN_DIVERGENCES
        driven = options.frozen_divergence if row[0] == "frozen" else options.divergence
        wen = options.distance == "kl" and least <= options.divergence <= most
        tables = ([WEN_3, WEN_4] if wen else []) + ([MEISTER_5] if driven else [])  # the latter name no λ
        return next((b for table in tables if (b := table.beside(finding, lab, *row)) != finding), finding)

    def _information(self, lab: Lab, models: dict[str, list[Model]]) -> list[Finding]:
        """τ of every model, and the base's less that of each adversary."""
        taus = {
            name: np.array(
                [
                    [measure_tau(lab, m, s, self.options.clusters).tau]
                    for m, s in zip(found, lab.seeds, strict=True)
                ]
            )
            for name, found in models.items()
        }  # [S, 1] each
        findings = [Finding(name, "tau", "up", values) for name, values in taus.items()]
        for name in ("frozen", "unfrozen"):
            difference = Finding(name, "tau lost", "none", taus["base"] - taus[name])
            findings.append(self._beside(lab, difference, name, "tau lost"))
        return findings


def _compared(name: str, adversaries: list[Outputs], bases: list[Outputs]) -> list[Finding]:
    pairs = list(zip(adversaries, bases, strict=True))
    jsd = torch.stack([js_divergence(a.attention.double(), b.attention.double()) for a, b in pairs])  # [S, N]
    tvd = torch.stack([total_variation(a.probabilities, b.probabilities) for a, b in pairs])  # [S, N]
    return [
        Finding(name, "jsd", "none", jsd.numpy()),
        Finding(name, "tvd", "down", tvd.double().numpy()),
        Finding(name, "accuracy", "up", _correct(adversaries)),
        Finding(name, "accuracy lost", "down", _correct(bases) - _correct(adversaries)),
    ]


def _correct(outputs: list[Outputs]) -> np.ndarray:
    return torch.stack([output.correct for output in outputs]).numpy()  # [S, N]
