"""How the output changes when a unit is taken away."""

from attnx import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'

DEYOUNG = 'DeYoung et al., "ERASER: A Benchmark to Evaluate Rationalized NLP Models", ACL 2020'


@hookimpl
def attnx_importances() -> list[Card]:
    """Importances by erasure."""
    return [
        Card("loo", "attnx_erasure.loo:LeaveOneOut",
             "Change of the output when a unit is left out and everything is recomputed.",
             options="attnx_erasure.options:LeaveOneOutOptions", needs=("deletion",), citation=MEISTER),
        Card("loo-hidden", "attnx_erasure.hidden_loo:HiddenLeaveOneOut",
             "Change of the output when a unit's hidden state is left out of what attention averages.",
             options="attnx_erasure.options:HiddenLeaveOneOutOptions", needs=("attention",)),
    ]  # fmt: skip


@hookimpl
def attnx_metrics() -> list[Card]:
    """What the explanation's top units are worth to the model."""
    return [
        Card("comprehensiveness", "attnx_erasure.comprehensiveness:Comprehensiveness",
             "How much the probability falls when the top units are deleted.",
             options="attnx_erasure.options:ErasureCurveOptions", needs=("deletion",),
             costly=True, citation=DEYOUNG),
        Card("sufficiency", "attnx_erasure.sufficiency:Sufficiency",
             "How much the probability falls when the top units are all that is left.",
             options="attnx_erasure.options:ErasureCurveOptions", needs=("deletion",),
             costly=True, citation=DEYOUNG),
    ]  # fmt: skip
