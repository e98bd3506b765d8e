"""How well the sizes of scores predict what deleting random subsets of units does."""

from attnx.plugin import Card, hookimpl

BHATT = 'Bhatt, Weller and Moura, "Evaluating and Aggregating Feature-based Model Explanations", IJCAI 2020'
YEH = 'Yeh et al., "On the (In)fidelity and Sensitivity of Explanations", NeurIPS 2019'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Correlation and squared error of summed scores and the effects of subsets."""
    return [
        Card("faithfulness-correlation", "attnx_subsets.faithfulness_correlation:FaithfulnessCorrelation",
             options="attnx_subsets.options:SubsetOptions", citation=BHATT),
        Card("infidelity", "attnx_subsets.infidelity:Infidelity",
             options="attnx_subsets.options:InfidelityOptions", citation=YEH),
    ]  # fmt: skip
