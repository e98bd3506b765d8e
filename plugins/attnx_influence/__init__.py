"""How far every unit reaches into every hidden state."""

from attnx import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'


@hookimpl
def attnx_importances() -> list[Card]:
    """A unit's influence on the hidden states."""
    return [
        Card("influence", "attnx_influence.importance:InfluenceOnStates",
             "Size of the gradient of the hidden states with respect to each unit's embedding.",
             options="attnx_influence.options:InfluenceOptions", needs=("gradient", "hidden"),
             citation=MEISTER),
    ]  # fmt: skip


@hookimpl
def attnx_metrics() -> list[Card]:
    """Whether a hidden state belongs to one unit or to all."""
    return [
        Card("contextualisation", "attnx_influence.contextualisation:Contextualisation",
             "How evenly all units influence a hidden state, from 0 for one unit alone to 1.",
             needs=("gradient", "hidden"), costly=True, citation=MEISTER),
    ]  # fmt: skip
