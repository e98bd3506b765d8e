"""What `mi-kendall` keeps of a split, made up so that its information is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.plugin import Conclusion, Corpus
from attnx_information.mi_kendall import MiKendall
from attnx_information.options import MiKendallOptions

Kept = tuple[Tensor, Tensor, Tensor, Tensor]
NAMES = [measure.name for measure in MiKendall.measures]


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def conclude(kept: Kept, attention: Tensor | None = None, repeats: int = 2, **options: Any) -> Conclusion:
    """What mi-kendall reports for states, shares, logits and places; attention is the shares unless given."""
    hidden, shares, logits, place = kept
    metric = MiKendall(MiKendallOptions(repeats=repeats, **options))
    corpus = Corpus(unit_counts=(~shares.isnan()).sum(1))
    return metric.conclude(
        (hidden, shares, shares if attention is None else attention, logits, place), corpus
    )


def named(conclusion: Conclusion) -> dict[str, float]:
    return dict(zip(NAMES, conclusion.values.tolist(), strict=True))


def channels(flips: Sequence[float], n: int = 20_000, classes: int = 3, seed: int = 0) -> Kept:
    """The hidden state of rank r is a one-hot code of the output, another one with probability flips[r]."""
    g = generator(seed)
    output = torch.randint(classes, (n,), generator=g)
    hidden = []
    for flip in flips:
        other = (output + torch.randint(1, classes, (n,), generator=g)) % classes
        sent = torch.where(torch.rand(n, generator=g) < flip, other, output)
        hidden.append(F.one_hot(sent, classes).float())
    shares = torch.tensor([2.0**-r for r in range(len(flips))], dtype=torch.float64)
    return (
        torch.stack(hidden, 1),
        (shares / shares.sum()).expand(n, -1),
        F.one_hot(output, classes).double(),
        torch.rand(n, generator=g, dtype=torch.float64),
    )
