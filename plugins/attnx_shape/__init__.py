"""How sparse an explanation is."""

from attnx import Card, hookimpl

PANDEY = 'Pandey, Vashisht and Ramaswamy, "On the Interpretability of Attention Networks", ACML 2022'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Three measures of sparsity; none of them says that sparse is better."""
    return [
        Card("nnz", "attnx_shape.nnz:Nnz", "Number of units with more than 1 % of the explanation's mass.",
             options="attnx_shape.options:NnzOptions", citation=PANDEY),
        Card("simplex-distance", "attnx_shape.simplex_distance:SimplexDistance",
             "Euclidean distance of the explanation from the nearest one-hot vector.", citation=PANDEY),
        Card("entropy", "attnx_shape.entropy:Entropy", "Shannon entropy of the explanation.",
             options="attnx_shape.options:EntropyOptions", citation=PANDEY),
    ]  # fmt: skip
