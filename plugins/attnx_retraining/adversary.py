"""Models trained to give the outputs of another model with different attention.

TVD is ½·Σ_c |p_c − q_c| over all classes, which for two is |p_1 − q_1|. The code of Wiegreffe and Pinter,
which Wen et al. follow, has half of that for two classes: dividing their loss by ½, a λ of theirs is 2λ
here, and a TVD that they report is 2·TVD.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from attnx.formulas import js_divergence, total_variation
from attnx.plugin import Batch, Example, Lab, Model

from .options import AdversarialModelOptions, AdversaryOptions
from .starts import copy_of, free_attention_alone, new_model

FLOOR = 1e-6  # least weight that KL divides by: where the base gives no weight at all it would be infinite
NUDGE = 0.01  # a copy of the base is perturbed by this share of its weights


@dataclass(frozen=True)
class Away:
    """The loss TVD(p_a, p_b) − λ·KL(a_a ‖ a_b), or with JSD for KL, of an adversary a of a base b."""

    base: Model
    distance: Literal["kl", "jsd"]
    divergence: float  # λ
    known: dict[int, tuple[Example, Tensor, Tensor]] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, model: Model, batch: Batch) -> Tensor:
        p_b, a_b = self._of_base(batch)
        a = model.run(batch, model.embed(batch))
        away = kl_divergence if self.distance == "kl" else _js_divergence
        cost = total_variation(a.probabilities, p_b)  # [B]
        return (cost - self.divergence * away(a.attention, a_b)).mean()

    def _of_base(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Probabilities [B, C] and attention [B, L] of the base: the same in every epoch, so computed once.

        Examples are known by identity, and kept, so that no other one takes the place of one in memory.
        """
        if any(id(example) not in self.known for example in batch.examples):
            with torch.no_grad():
                b = self.base.run(batch, self.base.embed(batch))
            for example, p, a, length in zip(
                batch.examples, b.probabilities, b.attention, batch.lengths.tolist(), strict=True
            ):
                self.known[id(example)] = example, p.clone(), a[:length].clone()
        known = [self.known[id(example)] for example in batch.examples]
        attention = pad_sequence([a for _, _, a in known], batch_first=True)
        missing = batch.mask.shape[1] - attention.shape[1]
        return torch.stack([p for _, p, _ in known]), torch.nn.functional.pad(attention, (0, missing))


def kl_divergence(p: Tensor, q: Tensor) -> Tensor:
    """Return KL(p ‖ q) over the last dimension; weights of q below 1e-6 count as 1e-6."""
    return (p * (_positive(p).log() - q.clamp_min(FLOOR).log())).sum(-1)


def _js_divergence(p: Tensor, q: Tensor) -> Tensor:
    return js_divergence(_positive(p), _positive(q))


def _positive(p: Tensor) -> Tensor:
    """Replace 0, at which the gradient of p log p is not finite."""
    return p.clamp_min(torch.finfo(p.dtype).tiny)


def unfrozen(lab: Lab, base: Model, seed: int, options: AdversaryOptions, divergence: float) -> Model:
    """Train a new model to differ in attention."""
    objective = Away(base, options.distance, divergence)
    return _trained(lab, new_model(lab, seed), seed, "unfrozen", objective)


def frozen(lab: Lab, base: Model, seed: int, options: AdversarialModelOptions, divergence: float) -> Model:
    """Train the attention parameters, or all parameters, of a copy of the base to differ in attention."""
    model = copy_of(lab, base, seed, new_attention=False)
    if options.moves == "attention":
        free_attention_alone(lab, model)
    _nudge(model, seed)
    objective = Away(base, options.distance, divergence)
    return _trained(lab, model, seed, f"frozen, {options.moves} moves", objective)


def _nudge(model: Model, seed: int) -> None:
    """Move the attention parameters a little: at the base itself every gradient of the loss is 0."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.attention_parameters():
            noise = torch.randn(parameter.shape, generator=generator).to(parameter)
            parameter.add_(NUDGE * parameter.abs().mean() * noise)


def _trained(lab: Lab, model: Model, seed: int, name: str, objective: Away) -> Model:
    name = f"{name}, {objective.divergence:g} for {objective.distance}"
    return lab.train(model, seed, name, objective=objective, depends_on=(objective.base,))
