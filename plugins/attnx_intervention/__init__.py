"""What happens to the output when attention is changed and everything else is held."""

from attnx import Card, hookimpl

SERRANO = 'Serrano and Smith, "Is Attention Interpretable?", ACL 2019'
JAIN = 'Jain and Wallace, "Attention is not Explanation", NAACL 2019'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Weights removed, permuted and optimised against the explanation."""
    return [
        Card("delta-js", "attnx_intervention.delta_js:DeltaJs",
             "How much more the output changes without the top unit than without a random one.",
             needs=("attention",), costly=True, citation=SERRANO),
        Card("decision-flip", "attnx_intervention.decision_flip:DecisionFlip",
             "Whether the decision flips without the top unit, and without a random one.",
             needs=("attention",), costly=True, citation=SERRANO),
        Card("flip-fraction", "attnx_intervention.flip_fraction:FlipFraction",
             "How much must be removed, most important units first, until the decision flips.",
             needs=("attention",), costly=True, citation=SERRANO),
        Card("permutation", "attnx_intervention.permutation:Permutation",
             "How much the output changes when the attention weights are dealt out at random.",
             options="attnx_intervention.options:PermutationOptions",
             needs=("attention",), costly=True, citation=JAIN),
        Card("adversarial-attention", "attnx_intervention.adversarial_attention:AdversarialAttention",
             "How far attention can move while the output stays where it is.",
             options="attnx_intervention.options:AdversarialAttentionOptions",
             needs=("attention", "gradient"), costly=True, citation=JAIN),
    ]  # fmt: skip
