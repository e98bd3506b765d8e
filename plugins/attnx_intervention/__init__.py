"""How the output changes when attention weights are changed and everything else is held fixed."""

from attnx.plugin import Card, hookimpl

SERRANO = 'Serrano and Smith, "Is Attention Interpretable?", ACL 2019'
JAIN = 'Jain and Wallace, "Attention is not Explanation", NAACL 2019'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Metrics that remove, permute or optimise attention weights."""
    return [
        Card("delta-js", "attnx_intervention.delta_js:DeltaJs", citation=SERRANO),
        Card("decision-flip", "attnx_intervention.decision_flip:DecisionFlip", plain=True, citation=SERRANO),
        Card("flip-fraction", "attnx_intervention.flip_fraction:FlipFraction", citation=SERRANO),
        Card("permutation", "attnx_intervention.permutation:Permutation",
             options="attnx_intervention.options:PermutationOptions", plain=True, citation=JAIN),
        Card("adversarial-attention", "attnx_intervention.adversarial_attention:AdversarialAttention",
             options="attnx_intervention.options:AdversarialAttentionOptions", plain=True, citation=JAIN),
    ]  # fmt: skip
