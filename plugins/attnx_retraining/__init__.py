"""Retraining: what attention is worth when the model, or its attention, is trained another way."""

from attnx import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'
WEN = (
    "Wen, Subbalakshmi and Yang, "
    '"Revisiting Attention Weights as Explanations from an Information Theoretic Perspective", 2022'
)
WIEGREFFE = 'Wiegreffe and Pinter, "Attention is not not Explanation", EMNLP 2019'


@hookimpl
def attnx_studies() -> list[Card]:
    """Studies that train a model again and compare."""
    return [
        Card("uniform-attention", "attnx_retraining.uniform_attention:UniformAttention",
             "What accuracy is lost when the model is trained with equal attention to every unit.",
             needs=("attention",), citation=WIEGREFFE),
        Card("seed-variance", "attnx_retraining.seed_variance:SeedVariance",
             "How far attention differs between models that differ in their training seed alone.",
             needs=("attention",), citation=WIEGREFFE),
        Card("guided-mlp", "attnx_retraining.guided_mlp:GuidedMlp",
             "How well a model that reads each unit alone does with the attention of another model.",
             options="attnx_retraining.options:GuidedMlpOptions", needs=("attention",), citation=WIEGREFFE),
        Card("adversarial-model", "attnx_retraining.adversarial_model:AdversarialModel",
             "How far attention can be driven from a model's while its outputs are kept.",
             options="attnx_retraining.options:AdversarialModelOptions", needs=("attention",),
             citation=f"{WIEGREFFE}; {MEISTER}"),
        Card("fixed-representation", "attnx_retraining.fixed_representation:FixedRepresentation",
             "What attention learns anew about hidden states that stay as they are.",
             options="attnx_retraining.options:FixedRepresentationOptions", needs=("attention", "hidden"),
             citation=WEN),
        Card("fixed-attention", "attnx_retraining.fixed_attention:FixedAttention",
             "What hidden states learn anew under attention that stays as it is.",
             options="attnx_retraining.options:FixedAttentionOptions", needs=("attention", "hidden"),
             citation=WEN),
        Card("sparsity-sweep", "attnx_retraining.sparsity_sweep:SparsitySweep",
             "How the spread of importance, and attention's agreement with it, change with sparsity.",
             options="attnx_retraining.options:SparsitySweepOptions", needs=("attention", "gradient"),
             citation=MEISTER),
        Card("gumbel-gain", "attnx_retraining.gumbel_gain:GumbelGain",
             "Whether attention tracks information better when trained with Gumbel noise.",
             options="attnx_retraining.options:GumbelGainOptions", needs=("attention", "hidden"),
             citation=WEN),
    ]  # fmt: skip
