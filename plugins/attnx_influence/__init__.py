"""How far every unit reaches into every hidden state."""

from attnx.plugin import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'


@hookimpl
def attnx_importances() -> list[Card]:
    """A unit's influence on the hidden states."""
    return [
        Card("influence", "attnx_influence.importance:InfluenceOnStates",
             options="attnx_influence.options:InfluenceOptions", citation=MEISTER),
    ]  # fmt: skip


@hookimpl
def attnx_metrics() -> list[Card]:
    """Whether a hidden state belongs to one unit or to all."""
    return [
        Card("contextualisation", "attnx_influence.contextualisation:Contextualisation",
             plain=True, citation=MEISTER),
    ]  # fmt: skip
