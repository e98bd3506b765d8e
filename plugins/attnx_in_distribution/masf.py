"""How likely an input is, by the largest activation of every neuron (Max-Simes-Fisher)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.formulas import at_once
from attnx.plugin import Trace

EQUAL = 1e-4  # in standard deviations of a neuron: activations that are closer are equal, on every processor

Groups = tuple[Tensor, ...]  # [R, neurons of the group] each


def activations(trace: Trace) -> Groups:
    """The largest activation of every neuron over the units of each input, by group.
    The groups are the embeddings, the hidden states if the model shows them, and the outputs. Vectors of
    words that are cut into pieces hold the pieces end to end, so other inputs may have longer or shorter
    ones.
    """
    units = trace.batch.mask[..., None]
    layers = [trace.embeddings, trace.hidden]
    largest = [values.masked_fill(~units, -torch.inf).amax(1).double() for values in layers]  # [R, F]
    return *(values for values in largest if values.isfinite().all()), trace.logits.double()


def of_width(values: Tensor, width: int) -> Tensor:
    """[R, width] the activations [R, F] of the first neurons, 0 for pieces that no word has."""
    return F.pad(values, (0, width - values.shape[1]))


@dataclass(frozen=True, slots=True)
class TrainingActivations:
    """The activations of training inputs, and the statistic of each among the others."""

    groups: Groups  # [D, F] each
    statistics: Tensor  # [D]

    @classmethod
    def of(cls, groups: Groups) -> TrainingActivations:
        """Compare each of these inputs with the others."""
        return cls(groups, _fisher([_simes(_p_values(values, values, own=True)) for values in groups]))

    def p_values(self, groups: Groups) -> Tensor:
        """[R] the share of training inputs that are at least as unlikely as each input."""
        pairs = [
            (of_width(values, known.shape[1]), known)
            for values, known in zip(groups, self.groups, strict=True)
        ]
        statistics = _fisher([_simes(_p_values(values, known, own=False)) for values, known in pairs])  # [R]
        above = (self.statistics >= statistics[:, None] - 1e-6).sum(1)
        return (1 + above) / (1 + len(self.statistics))


def _p_values(values: Tensor, known: Tensor, *, own: bool) -> Tensor:
    """[R, F] two-sided p-values of activations by the empirical distribution of known ones [D, F].

    `own`: the values are the known ones themselves, and each is compared with the others.
    """
    near = EQUAL * known.std(0, correction=0)  # [F]
    found = []
    for part in values.split(at_once(known.numel())):
        below = (known <= part[:, None] + near).sum(1)  # [r, F]
        above = (known >= part[:, None] - near).sum(1)
        found.append(torch.minimum(below, above))
    count = torch.cat(found).double() + (0 if own else 1)
    return (2 * count / (len(known) + (0 if own else 1))).clamp(max=1)


def _simes(p: Tensor) -> Tensor:
    """[R] one p-value for all neurons of a group [R, F]: the smallest F·p_(i)/i."""
    place = torch.arange(1, p.shape[1] + 1, device=p.device)
    return (p.sort(1).values * p.shape[1] / place).amin(1).clamp(max=1)


def _fisher(p: Sequence[Tensor]) -> Tensor:
    """[R] −2 Σ log p over the groups: large for unlikely inputs."""
    return -2 * torch.stack(list(p)).log().sum(0)
