from __future__ import annotations

import torch
from torch import Tensor

from attnx.plugin import Batch, Evidence, Example, Measure, Metric


class PairMovement(Metric):
    """Whether scores change with the words in which the two texts of a minimal pair differ.

    Both texts are explained for the class that is explained in the first. A word that decides for it in
    one text is replaced in the other, so its score should change, and the scores of the words that both
    texts have should not. With the scores e and e′ of the two texts,

        differing = |Σ_{differing} e − Σ_{differing} e′| / the larger number of differing words
        shared    = mean over the words that both have of |e − e′|
        gain      = (differing − shared) / (differing + shared)

    `gain` is 1 if only the words that differ change, 0 if they change no more than the others or if nothing
    changes, −1 if only the others do; higher is better, and random scores are near 0. `differing` and
    `shared` are in the units of the scores. Undefined for a text without a partner, if the model gives both
    texts the same answer (nothing needs to change), and for scores that were read and not computed.
    Attention is not about a class: it moves only if it shifts between words.
    """

    needs = ("rationale", "pairs")
    family = "ground-truth"
    sees = "rationale"
    passes = 2.0
    cost = "one more explanation, of the other text of the pair"
    cannot = (
        "whether the explanation is faithful elsewhere: it is about the words that differ; an explanation "
        "that is not about a class may be right and move little"
    )
    measures = (
        Measure("gain", "up", (-1, 1)),
        Measure("differing", "none", (0, float("inf"))),
        Measure("shared", "none", (0, float("inf"))),
    )

    def __call__(self, evidence: Evidence) -> Tensor:
        batch, explain = evidence.trace.batch, evidence.explainer
        device = batch.mask.device
        values = torch.full((len(batch), 3), torch.nan, dtype=torch.float64, device=device)
        rows = [
            row
            for row, example in enumerate(batch.examples)
            if example.partner is not None and example.rationale is not None
        ]
        if explain is None or not rows:
            return values
        partners = [partner for row in rows if (partner := batch.examples[row].partner) is not None]
        other = evidence.model.encode(partners).to(device)
        trace = evidence.model.run(other, evidence.model.embed(other))
        at = torch.tensor(rows, device=device)
        target = evidence.explanation.target[at]
        scores = explain(evidence.model, trace, target)
        changed = (trace.predicted != evidence.trace.predicted[at]).tolist()
        for number, (row, partner) in enumerate(zip(rows, partners, strict=True)):
            if changed[number]:
                values[row] = movement(
                    batch.examples[row],
                    by_unit(evidence.explanation.values[row], batch, row),
                    partner,
                    by_unit(scores[number], other, number),
                )
        return values


def by_unit(scores: Tensor, batch: Batch, row: int) -> Tensor:
    """[n] the score of every unit of an example, from those of its columns [L]; 0 for what is not read."""
    units = torch.zeros(len(batch.examples[row].units), dtype=torch.float64)
    places = batch.unit_index[row][batch.mask[row]].cpu().long()
    return units.index_add(0, places, scores[batch.mask[row]].detach().double().cpu())


def movement(example: Example, scores: Tensor, partner: Example, others: Tensor) -> Tensor:
    """[3] gain, differing and shared, from the scores [n] and [m] of two texts."""
    marked, marked_other = (torch.tensor(one.rationale, dtype=torch.bool) for one in (example, partner))
    most = max(int(marked.sum()), int(marked_other.sum()))
    differing = (scores[marked].sum() - others[marked_other].sum()).abs() / most
    shared = (scores[~marked] - others[~marked_other]).abs().mean()  # they are the same words in this order
    total = differing + shared
    gain = (differing - shared) / total if total > 0 else torch.zeros_like(total)
    return torch.stack([gain, differing, shared])
