"""How much every unit influences every hidden state."""

from attnx.plugin import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'


@hookimpl
def attnx_importances() -> list[Card]:
    """The influence of each unit on the hidden states."""
    return [
        Card("influence", "attnx_influence.importance:InfluenceOnStates",
             options="attnx_influence.options:InfluenceOptions", citation=MEISTER),
    ]  # fmt: skip


@hookimpl
def attnx_metrics() -> list[Card]:
    """Whether a hidden state represents one unit or mixes all of them."""
    return [
        Card("contextualisation", "attnx_influence.contextualisation:Contextualisation",
             plain=True, citation=MEISTER),
    ]  # fmt: skip
