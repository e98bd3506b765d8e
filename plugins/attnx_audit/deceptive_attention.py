from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from attnx.formulas import rationale_mass
from attnx.plugin import Finding, Lab, Model, Outputs, Study

from .options import DeceptiveAttentionOptions


class DeceptiveAttention(Study):
    """What metrics report about attention that was trained to avoid the deciding units.

    For every λ a model is trained with the loss CE − λ·log(1 − Σ a_i over the rationale); the same models
    come from a run with --train deception=λ. A deceived model is about as accurate as the honest one and
    uses the same units (words, image patches, ...), but its attention is on others: a metric that gives
    both the same value missed the deception. A model that reads each unit separately cannot move
    information from one unit to another, and loses accuracy instead. Needs a task with rationales; trains
    one model per λ and seed.
    """

    needs = ("attention", "rationale")

    def __init__(self, options: DeceptiveAttentionOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        weights = {"honest": 0.0, **{f"λ = {penalty:g}": penalty for penalty in self.options.penalties}}
        plans = {  # resolved before any training, so that an unavailable metric is rejected early
            name: lab.variant(
                training={**lab.setting.training.model_dump(), "deception": weight},
                metrics=self.options.metrics,
                references=self.options.references,
            )
            for name, weight in weights.items()
        }
        references = plans["honest"].references
        findings: list[Finding] = []
        for name, plan in plans.items():
            models = [lab.model(seed, plan) for seed in lab.seeds]
            outputs = [lab.outputs(model) for model in models]
            correct = np.stack([output.correct.numpy() for output in outputs])  # [S, N]
            mass = torch.stack([_mass(output) for output in outputs])  # [S, N]
            findings.append(Finding(name, "accuracy", "up", correct, bounds=(0, 1)))
            of_attention = mass.double().numpy()
            findings.append(Finding(name, "attention on the rationale", "none", of_attention, bounds=(0, 1)))
            findings += self._measured(lab, name, models, references)
        return findings

    def _measured(
        self, lab: Lab, setting: str, models: Sequence[Model], references: Sequence[str]
    ) -> list[Finding]:
        """Measure every metric on these models' attention."""
        by_seed = [
            lab.measure(model, seed, self.options.metrics, references=references)
            for model, seed in zip(models, lab.seeds, strict=True)
        ]
        return [
            Finding(
                setting,
                " ".join(
                    [
                        m.metric,
                        *([measure.name] if measure.name != m.metric else []),
                        *([f"with {m.reference}"] if m.reference else []),
                    ]
                ),
                measure.direction,
                np.stack([same[i].values[:, column] for same in by_seed]),  # [S, N], or [S, 1] of a split
                bounds=measure.bounds,
            )
            for i, m in enumerate(by_seed[0])
            for column, measure in enumerate(m.measures)
        ]


def _mass(outputs: Outputs) -> torch.Tensor:
    """[N] the attention on the rationale of every example."""
    of_examples = zip(outputs.attention, outputs.rationale, strict=True)
    return torch.stack([rationale_mass(attention, rationale) for attention, rationale in of_examples])
