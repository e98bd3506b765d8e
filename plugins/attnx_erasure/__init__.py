"""How the output changes when units are deleted or replaced."""

from attnx.plugin import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'
JAIN = 'Jain and Wallace, "Attention is not Explanation", NAACL 2019'
EDIN = 'Edin et al., "Normalized AOPC", 2024 (best and worst orders); the rest is defined here'
PETSIUK = (
    'Petsiuk, Das and Saenko, "RISE", BMVC 2018 (deletion and insertion); Schulz et al., '
    '"Restricting the Flow", ICLR 2020 (area between the curves)'
)
NAOPC = 'Edin et al., "Normalized AOPC: Fixing Misleading Faithfulness Metrics", 2024'
COHEN_WANG = (
    'Cohen-Wang, Shah, Georgiev and Madry, "ContextCite: Attributing Model Generation to Context", 2024'
)
DEYOUNG = 'DeYoung et al., "ERASER: A Benchmark to Evaluate Rationalized NLP Models", ACL 2020'


@hookimpl
def attnx_importances() -> list[Card]:
    """Importance by deletion: of single units, of windows, of random halves, and on hidden states."""
    return [
        Card("loo", "attnx_erasure.loo:LeaveOneOut",
             options="attnx_erasure.options:LeaveOneOutOptions", citation=MEISTER),
        Card("loo-jw", "attnx_erasure.loo_jw:LeaveOneOutJw", citation=JAIN),
        Card("loo-hidden", "attnx_erasure.hidden_loo:HiddenLeaveOneOut",
             options="attnx_erasure.options:HiddenLeaveOneOutOptions"),
        Card("context-cite", "attnx_erasure.context_cite:ContextCite",
             options="attnx_erasure.options:ContextCiteOptions", citation=COHEN_WANG),
    ]  # fmt: skip


@hookimpl
def attnx_metrics() -> list[Card]:
    """How much the model's output depends on the explanation's top units."""
    return [
        Card("faithfulness", "attnx_erasure.faithfulness:Faithfulness",
             options="attnx_erasure.options:FaithfulnessOptions", plain=True, citation=EDIN),
        Card("comprehensiveness", "attnx_erasure.comprehensiveness:Comprehensiveness",
             options="attnx_erasure.options:ErasureCurveOptions", plain=True, citation=DEYOUNG),
        Card("sufficiency", "attnx_erasure.sufficiency:Sufficiency",
             options="attnx_erasure.options:ErasureCurveOptions", plain=True, citation=DEYOUNG),
        Card("abpc", "attnx_erasure.abpc:Abpc",
             options="attnx_erasure.options:DeletionOptions", citation=PETSIUK),
        Card("naopc", "attnx_erasure.naopc:NormalisedAopc",
             options="attnx_erasure.options:DeletionOptions", citation=NAOPC),
    ]  # fmt: skip
