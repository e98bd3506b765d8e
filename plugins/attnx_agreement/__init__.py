"""Whether an explanation agrees with a reference, and how spread out importance is."""

from attnx import Card, hookimpl

JAIN = 'Jain and Wallace, "Attention is not Explanation", NAACL 2019'
MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'
SHIEH = 'Shieh, "A weighted Kendall\'s tau statistic", Statistics and Probability Letters 39, 1998'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Rank correlations with a reference, and the entropy of importance."""
    return [
        Card("kendall", "attnx_agreement.kendall:Kendall",
             "Kendall's τ-b between explanation and reference, and the most that their ties allow.",
             needs=("reference",), recommends=("gradient", "loo"), citation=JAIN),
        Card("kendall-topk", "attnx_agreement.kendall_topk:KendallTopK",
             "Kendall's τ-b where each score orders only its k largest values and the rest tie below them.",
             options="attnx_agreement.options:KendallTopKOptions", needs=("reference",),
             recommends=("gradient", "loo"), citation=JAIN),
        Card("spearman", "attnx_agreement.spearman:Spearman",
             "Spearman's rank correlation between explanation and reference.",
             needs=("reference",), recommends=("gradient", "loo")),
        Card("pearson", "attnx_agreement.pearson:Pearson",
             "Pearson's correlation between explanation and reference.",
             needs=("reference",), recommends=("gradient", "loo")),
        Card("weighted-kendall", "attnx_agreement.weighted_kendall:WeightedKendall",
             "Kendall's τ with every pair of units weighted by their importance.",
             options="attnx_agreement.options:WeightedKendallOptions", needs=("reference",),
             recommends=("gradient", "loo"), citation=SHIEH),
        Card("importance-entropy", "attnx_agreement.importance_entropy:ImportanceEntropy",
             "Entropy of the explanation as a fraction of the most it could be.", citation=MEISTER),
    ]  # fmt: skip
