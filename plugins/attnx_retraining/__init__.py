"""Studies that retrain a model with other attention or other representations."""

from attnx.plugin import Card, hookimpl

MADSEN = (
    "Madsen, Meade, Adlakha and Reddy, "
    '"Evaluating the Faithfulness of Importance Measures in NLP by Recursively Masking Allegedly Important '
    'Tokens and Retraining", Findings of EMNLP 2022'
)
MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'
WEN = (
    "Wen, Subbalakshmi and Yang, "
    '"Revisiting Attention Weights as Explanations from an Information Theoretic Perspective", 2022'
)
ZHENG = (
    'Zheng et al., "F-Fidelity: A Robust Framework for Faithfulness Evaluation of Explainable AI", ICLR 2025'
)
WIEGREFFE = 'Wiegreffe and Pinter, "Attention is not not Explanation", EMNLP 2019'


@hookimpl
def attnx_studies() -> list[Card]:
    """Studies that train a model again and compare."""
    return [
        Card("uniform-attention", "attnx_retraining.uniform_attention:UniformAttention", citation=WIEGREFFE),
        Card("seed-variance", "attnx_retraining.seed_variance:SeedVariance", citation=WIEGREFFE),
        Card("guided-mlp", "attnx_retraining.guided_mlp:GuidedMlp",
             options="attnx_retraining.options:GuidedMlpOptions", citation=WIEGREFFE),
        Card("adversarial-model", "attnx_retraining.adversarial_model:AdversarialModel",
             options="attnx_retraining.options:AdversarialModelOptions", citation=f"{WIEGREFFE}; {MEISTER}"),
        Card("fixed-representation", "attnx_retraining.fixed_representation:FixedRepresentation",
             options="attnx_retraining.options:FixedRepresentationOptions", citation=WEN),
        Card("fixed-attention", "attnx_retraining.fixed_attention:FixedAttention",
             options="attnx_retraining.options:FixedAttentionOptions", citation=WEN),
        Card("sparsity-sweep", "attnx_retraining.sparsity_sweep:SparsitySweep",
             options="attnx_retraining.options:SparsitySweepOptions", citation=MEISTER),
        Card("gumbel-gain", "attnx_retraining.gumbel_gain:GumbelGain",
             options="attnx_retraining.options:GumbelGainOptions", citation=WEN),
        Card("f-fidelity", "attnx_retraining.f_fidelity:FFidelity",
             options="attnx_retraining.removal_options:FFidelityOptions", citation=ZHENG),
        Card("recursive-roar", "attnx_retraining.recursive_roar:RecursiveRoar",
             options="attnx_retraining.removal_options:RecursiveRoarOptions", citation=MADSEN),
    ]  # fmt: skip
