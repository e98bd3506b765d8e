from __future__ import annotations

import torch
from torch import Tensor

from attnx.formulas import equal_lengths, ranked, similar_lengths
from attnx.plugin import Batch, Evidence, Importance, JointEvidence, JointMetric, Measure, Model

from .masf import Groups, TrainingActivations, activations, of_width
from .options import InDistributionOptions


class InDistribution(JointMetric):
    """How often examples without their top units, or with only these, look unlike training examples.
    A p-value for every input (MaSF): the largest activation of each neuron over the units (words, image
    patches, ...) has a two-sided p-value by its distribution over 100 training examples; Simes' method
    joins the neurons of a layer (embeddings, hidden states, outputs), Fisher's the layers, and the share
    of training examples that are at least as unlikely is the p-value of the input. `unlikely-without-top`
    is the share of the set sizes ⌈share·n⌉ at which the example without its top units has p ≤ .05,
    `unlikely-only-top` that at which only the top units do, `unlikely-whole` says whether the whole
    example has it already: about 5 % of all examples, if test and training examples are alike. Set sizes
    that leave no unit do not count.
    """

    needs = ("deletion",)
    family = "erasure"
    sees = "units"
    cost = "two forward passes per share and explanation, and 100 for training examples in every batch"
    cannot = (
        "whether a change of the output is due to unlikely inputs: it is a caution next to erasure and "
        "decides nothing. It sees largest activations only, so inputs may be unlike in ways that it misses"
    )
    measures = (
        Measure("unlikely-without-top", "none", (0, 1)),
        Measure("unlikely-only-top", "none", (0, 1)),
        Measure("unlikely-whole", "none", (0, 1)),
    )

    def __init__(self, options: InDistributionOptions) -> None:
        self.options = options
        self.passes = 2.0 * len(options.bins)

    def __call__(self, evidence: JointEvidence) -> Tensor:
        batch, model = evidence.trace.batch, evidence.model
        known = TrainingActivations.of(_of_donors(evidence))
        whole = (known.p_values(activations(evidence.trace)) <= self.options.level).double()  # [B]
        found = []
        for importance in evidence.explanations.values():
            top = self._top(evidence, importance)  # [B, T, L]
            sides = [self._unlikely(model, batch, kept, known) for kept in (batch.mask[:, None] & ~top, top)]
            values = torch.stack([*sides, whole], dim=1)  # [B, 3]
            finite = importance.values.isfinite().all(1, keepdim=True)
            found.append(values.masked_fill(~finite, torch.nan))
        return torch.stack(found)

    def _top(self, evidence: JointEvidence, importance: Importance) -> Tensor:
        """[B, T, L] the top ⌈share·n⌉ units for every share."""
        mask = evidence.trace.batch.mask
        share = torch.tensor(self.options.bins, dtype=torch.float64, device=mask.device) / 100
        sizes = (mask.sum(1)[:, None] * share - 1e-9).ceil().clamp_min(1)  # [B, T]
        one = Evidence(evidence.trace, importance, None, evidence.model, evidence.random)
        return (ranked(one).argsort(1)[:, None] < sizes[..., None]) & mask[:, None]

    def _unlikely(self, model: Model, batch: Batch, kept: Tensor, known: TrainingActivations) -> Tensor:
        """[B] the share of set sizes at which the input with the units `kept` [B, T, L] is unlikely."""
        used = torch.arange(batch.mask.shape[1], device=kept.device) < batch.lengths[:, None]  # [B, L]
        rows, sizes = kept.any(2).nonzero(as_tuple=True)  # [R] each
        stays = kept[rows, sizes] | (used & ~batch.mask)[rows]  # [R, L] special columns stay
        found = torch.full(kept.shape[:2], torch.nan, dtype=torch.float64, device=kept.device)
        for bucket in equal_lengths(stays.sum(1)):
            columns = stays[bucket].nonzero()[:, 1].view(len(bucket), -1)
            shorter = batch.keep(rows[bucket], columns)
            p = known.p_values(activations(model.run(shorter, model.embed(shorter))))
            found[rows[bucket], sizes[bucket]] = (p <= self.options.level).double()
        return found.nanmean(1)


def _of_donors(evidence: JointEvidence) -> Groups:
    """The activations of training examples, in their order."""
    model, device = evidence.model, evidence.trace.logits.device
    donors = evidence.corpus.donors or evidence.trace.batch.examples
    lengths = torch.tensor([len(example.units) for example in donors])
    groups, order = [], []
    for rows in similar_lengths(lengths):
        batch = model.encode([donors[row] for row in rows.tolist()]).to(device)
        groups.append(activations(model.run(batch, model.embed(batch))))
        order.append(rows)
    place = torch.cat(order).argsort().to(device)
    return tuple(
        torch.cat([of_width(part, max(p.shape[1] for p in parts)) for part in parts])[place]
        for parts in zip(*groups, strict=True)
    )
