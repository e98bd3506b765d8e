from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.formulas import settled, shares, weighted_tau
from attnx.plugin import Axis, Conclusion, Corpus, Evidence, Measure, SplitMetric

from .kmeans import Space, kmeans
from .mutual_information import mutual_information, shuffled
from .options import MOST_REPEATS, MiKendallOptions

SHORTEST = 0.1  # ranks that fewer than 90 % of the examples have are ignored
NEGLIGIBLE, MOST = 1e-5, 0.8  # and ranks whose weight is not above 1e-5 in 80 % of the examples
NOTHING = 1e-9  # nats: entropies of equal partitions may be this far apart by rounding
PAPER_CLUSTERS = range(50, 201)
OUTPUT_CLUSTERS = 5


class MiKendall(SplitMetric):
    """Correlation of the explanation's ranks with the information in the units' hidden states.

    Tests whether high-ranked units (words, image patches, ...) have hidden states that carry much
    information about the output, over a whole split. The range of `tau` is −1 to 1; higher is better.

    Units are ranked by |explanation|, ties by position; a_r is the share of rank r in Σ|explanation|. The
    hidden states of rank r over all examples are clustered by k-means into N clusters. The outputs are
    clustered into 5 by their margin z_1 − z_0, or grouped by predicted class if there are more than two
    classes. m_r is the mutual information of the two labels in nats. τ is Shieh's weighted Kendall
    correlation between (m_1, ..., m_k) and the means (ā_1, ..., ā_k) with weights ā_r.

    k is the smaller of the 10th percentile of lengths and the largest rank whose weight is above 1e-5 in
    80 % of the examples. That weight is the model's attention for every explanation, so that all
    explanations of a model are compared on the same ranks. An example with fewer than k units, or with
    all scores 0, is left out of every rank, so all m_r are estimated from the same examples; `examples`
    is the number that remain.

    With few examples per cluster the estimate m_r is too large. The corrected one (`tau-corrected`)
    subtracts its mean over random shuffles of the outputs.

    k-means depends on its seed: if two m_r are close, another run may order them differently. So
    everything is repeated with other seeds; values are means over the repeats, and `tau-spread` and
    `tau-corrected-spread` are the standard deviations of τ over them.

    Undefined: all measures if fewer than 2N examples remain, or if clusters=paper and no N from 50 to 200
    meets the paper's condition in the first repeat (the other repeats use the same N); τ if k < 2; the
    spreads with one repeat. Needs many examples: a cluster with few of them says little.
    """

    needs = ("hidden", "attention")
    family = "information"
    sees = "hidden states"
    cost = "clusters the hidden states of the whole split; no further pass through the model"
    cannot = "how a single example is explained: it has one value for a whole split"
    measures = (
        Measure("tau", "up", (-1, 1)),
        Measure("tau-corrected", "up", (-1, 1)),
        Measure("tau-spread", "none", (0, math.inf)),
        Measure("tau-corrected-spread", "none", (0, math.inf)),
        Measure("mi-top", "none", (0, math.inf)),
        Measure("mi-top-corrected", "none", (-math.inf, math.inf)),
        Measure("ranks", "none", (0, math.inf)),
        Measure("clusters", "none", (2, math.inf)),
        Measure("examples", "none", (0, math.inf)),
    )

    def __init__(self, options: MiKendallOptions) -> None:
        self.options = options

    def keep(self, evidence: Evidence, corpus: Corpus) -> tuple[Tensor, ...]:
        """States [B, K, H], shares [B, K] and attention [B, K] of the top ranks; logits; a place.

        Shares and attention have ranks of their own, and are NaN beyond the last.
        """
        trace, mask = evidence.trace, evidence.trace.batch.mask
        ranks = self._most_ranks(corpus)
        share, order = _ranked(shares(evidence.explanation.values), mask, ranks)  # [B, K]
        attention, _ = _ranked(trace.attention.double(), mask, ranks)  # [B, K]
        hidden = trace.hidden.gather(1, order[..., None].expand(-1, -1, trace.hidden.shape[-1]))  # [B, K, H]
        # sorting by a number of each example makes the result independent of the split's order
        place = evidence.random.to("order").uniform(trace.batch)[:, 0].masked_fill(~mask, 1.0).amin(1)  # [B]
        return hidden.float(), share, attention, trace.logits.double(), place

    def conclude(self, kept: tuple[Tensor, ...], corpus: Corpus) -> Conclusion:
        hidden, share, attention, logits, place = kept
        k = int(((attention > NEGLIGIBLE).double().mean(0) >= MOST).sum())  # attention falls with rank
        order = place.argsort()
        stay = order[~share[order, :k].isnan().any(1)]  # [n]
        mean_share = share[stay, :k].T.contiguous().mean(1)  # [k] ā_r
        clusters, labels = self._clusters(hidden, stay, k)  # labels [R, k, n]
        m = corrected = torch.full((1, k), torch.nan, dtype=torch.float64)  # [R, k]
        if clusters:
            found = [self._information(run, logits[stay], repeat) for repeat, run in enumerate(labels)]
            m, corrected = (torch.stack(by_repeat) for by_repeat in zip(*found, strict=True))
        tau, tau_corrected = (
            torch.tensor([_tau(run, mean_share) for run in runs], dtype=torch.float64)
            for runs in (m, corrected)
        )
        m, corrected = m.mean(0), corrected.mean(0)  # [k]
        values = [
            float(tau.mean()),
            float(tau_corrected.mean()),
            _spread(tau),
            _spread(tau_corrected),
            float(m[0]) if k else math.nan,
            float(corrected[0]) if k else math.nan,
            k,
            clusters or math.nan,
            len(stay),
        ]
        ranks = tuple(float(rank) for rank in range(1, k + 1))
        curves = {"information": m, "corrected information": corrected, "mean share": mean_share}
        return Conclusion(
            torch.tensor(values, dtype=torch.float64),
            tuple((Axis(f"{name} by rank", "rank", ranks), line) for name, line in curves.items()),
        )

    def _most_ranks(self, corpus: Corpus) -> int:
        """K: the 10th percentile of the numbers of units, so that 90 % of the examples have K units."""
        units = torch.quantile(corpus.unit_counts.double(), SHORTEST, interpolation="lower")
        return min(int(units), self.options.max_ranks or int(units))

    def _clusters(self, hidden: Tensor, stay: Tensor, k: int) -> tuple[int, Tensor]:
        """N and the labels [R, k, n] of the states of every rank in every repeat; 0 where there is no N."""
        n, first = self._first_clusters(hidden, stay, k)
        if not n:
            return 0, torch.empty(0, k, len(stay))
        labels = first.new_empty(self.options.repeats, k, len(stay))
        labels[0] = first
        for rank in range(k):
            space = Space.of(hidden[stay, rank])
            for repeat in range(1, self.options.repeats):
                labels[repeat, rank] = kmeans(space, n, self._generator(repeat)).labels
        return n, labels

    def _first_clusters(self, hidden: Tensor, stay: Tensor, k: int) -> tuple[int, Tensor]:
        """N and the labels [k, n] of the first repeat; 0 where there is no N."""
        known: dict[int, Tensor] = {}
        wanted = PAPER_CLUSTERS if self.options.clusters == "paper" else [self.options.clusters]
        ranks = list(range(k))
        for n in wanted:
            if not ranks or len(stay) < 2 * n:
                break
            for rank in ranks:
                found = kmeans(Space.of(hidden[stay, rank]), n, self._generator(0))
                if self.options.clusters == "paper" and bool((found.sizes == 1).any()):
                    ranks.remove(rank)
                    ranks.insert(0, rank)  # if the next N fails, it most likely fails here: try this first
                    break
                known[rank] = found.labels
            else:
                return n, torch.stack([known[rank] for rank in range(k)])
        return 0, torch.empty(0, len(stay))

    def _information(self, labels: Tensor, logits: Tensor, repeat: int) -> tuple[Tensor, Tensor]:
        """Return m_r [k] from labels [k, n] and logits [n, C], and m_r minus its mean over shuffles."""
        outputs = self._outputs(logits, repeat)
        m = mutual_information(labels, outputs[None])
        by_chance = shuffled(outputs, self.options.permutations, self._generator(repeat))  # [P, n]
        null = torch.stack([mutual_information(rank[None], by_chance).mean() for rank in labels])
        return m, m - null

    def _outputs(self, logits: Tensor, repeat: int) -> Tensor:
        """[n] labels of the outputs [n, C]."""
        if logits.shape[1] > 2:
            return logits.argmax(1)
        margin = Space.of(logits[:, 1:] - logits[:, :1])
        return kmeans(margin, OUTPUT_CLUSTERS, self._generator(repeat)).labels

    def _generator(self, repeat: int) -> torch.Generator:
        return torch.Generator().manual_seed(self.options.seed * MOST_REPEATS + repeat)


def _ranked(weights: Tensor, mask: Tensor, ranks: int) -> tuple[Tensor, Tensor]:
    """[B, K] the largest weights on the mask, NaN beyond the last, and their columns; ties by position."""
    weights = weights.masked_fill(~mask, -1.0)
    weights = F.pad(weights, (0, max(0, ranks - mask.shape[1])), value=-1.0)
    falling, order = weights.sort(dim=1, descending=True, stable=True)
    falling, order = falling[:, :ranks], order[:, :ranks].clamp_max(mask.shape[1] - 1)
    return falling.masked_fill(falling < 0, torch.nan), order


def _spread(values: Tensor) -> float:
    """The standard deviation of values [R]; NaN for one."""
    return float(values.std()) if len(values) > 1 else math.nan


def _tau(x: Tensor, w: Tensor) -> float:
    """Shieh's τ_w of x [k] with the weights w [k] themselves; NaN where x is."""
    if x.isnan().any():
        return math.nan
    everywhere = torch.ones(1, len(x), dtype=torch.bool)
    x, w = settled(x[None], everywhere, absolute=NOTHING), settled(w[None], everywhere)
    return float(weighted_tau(x, w, w))
