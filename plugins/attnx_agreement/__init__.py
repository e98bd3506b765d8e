"""How well an explanation agrees with a reference, and how spread out its scores are."""

from attnx.plugin import Card, hookimpl

JAIN = 'Jain and Wallace, "Attention is not Explanation", NAACL 2019'
KRISHNA = 'Krishna et al., "The Disagreement Problem in Explainable Machine Learning", 2022'
MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'
SHIEH = 'Shieh, "A weighted Kendall\'s tau statistic", Statistics and Probability Letters 39, 1998'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Rank correlations with a reference, and the entropy of the scores."""
    return [
        Card("kendall", "attnx_agreement.kendall:Kendall",
             recommends=("gradient", "loo"), plain=True, citation=JAIN),
        Card("kendall-topk", "attnx_agreement.kendall_topk:KendallTopK",
             options="attnx_agreement.options:KendallTopKOptions",
             recommends=("gradient", "loo"), citation=JAIN),
        Card("spearman", "attnx_agreement.spearman:Spearman", recommends=("gradient", "loo")),
        Card("pearson", "attnx_agreement.pearson:Pearson", recommends=("gradient", "loo")),
        Card("weighted-kendall", "attnx_agreement.weighted_kendall:WeightedKendall",
             options="attnx_agreement.options:WeightedKendallOptions",
             recommends=("gradient", "loo"), citation=SHIEH),
        Card("feature-agreement", "attnx_agreement.feature_agreement:FeatureAgreement",
             options="attnx_agreement.options:FeatureAgreementOptions",
             recommends=("gradient", "loo"), citation=KRISHNA),
        Card("importance-entropy", "attnx_agreement.importance_entropy:ImportanceEntropy", citation=MEISTER),
    ]  # fmt: skip
