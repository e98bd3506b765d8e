"""Plausibility: agreement with the units that people marked."""

from attnx.plugin import Card, hookimpl

ERASER = 'DeYoung et al., "ERASER: A Benchmark to Evaluate Rationalized NLP Models", ACL 2020'
ARRAS = 'Arras, Osman and Samek, "CLEVR-XAI", Information Fusion 81, 2022'
GARDNER = 'Gardner et al., "Evaluating Models\' Local Decision Boundaries via Contrast Sets", EMNLP 2020'
PANDEY = 'Pandey, Vashisht and Ramaswamy, "On the Interpretability of Attention Networks", ACML 2022'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Agreement with human rationales."""
    return [
        Card("plausibility", "attnx_plausibility.plausibility:Plausibility",
             options="attnx_plausibility.options:PlausibilityOptions", plain=True, citation=ERASER),
        Card("eraser", "attnx_plausibility.eraser:Eraser",
             options="attnx_plausibility.options:EraserOptions", citation=ERASER),
        Card("localisation", "attnx_plausibility.localisation:Localisation",
             options="attnx_plausibility.options:LocalisationOptions", citation=PANDEY),
        Card("relevance-mass", "attnx_plausibility.relevance_mass:RelevanceMass", citation=ARRAS),
        Card("roc-auc", "attnx_plausibility.roc_auc:RocAuc"),
        Card("reciprocal-rank", "attnx_plausibility.reciprocal_rank:ReciprocalRank"),
        Card("pair-movement", "attnx_plausibility.pair_movement:PairMovement", citation=GARDNER),
    ]  # fmt: skip
