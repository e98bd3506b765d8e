"""How the output changes when a unit is taken away."""

from attnx import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'


@hookimpl
def attnx_importances() -> list[Card]:
    """Importances by erasure."""
    return [
        Card("loo", "attnx_erasure.loo:LeaveOneOut",
             "Change of the output when a unit is left out and everything is recomputed.",
             options="attnx_erasure.options:LeaveOneOutOptions", needs=("deletion",), citation=MEISTER),
    ]  # fmt: skip
