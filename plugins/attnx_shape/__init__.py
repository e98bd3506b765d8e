"""How sparse an explanation is."""

from attnx.plugin import Card, hookimpl

HURLEY = (
    'Hurley and Rickard, "Comparing Measures of Sparsity", IEEE Transactions on Information Theory 55, 2009'
)
PANDEY = 'Pandey, Vashisht and Ramaswamy, "On the Interpretability of Attention Networks", ACML 2022'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Measures of sparsity; none of them means that sparse is better."""
    return [
        Card("nnz", "attnx_shape.nnz:Nnz",
             options="attnx_shape.options:NnzOptions", citation=PANDEY),
        Card("mass", "attnx_shape.mass:Mass", options="attnx_shape.options:MassOptions", plain=True),
        Card("simplex-distance", "attnx_shape.simplex_distance:SimplexDistance", citation=PANDEY),
        Card("entropy", "attnx_shape.entropy:Entropy",
             options="attnx_shape.options:EntropyOptions", citation=PANDEY),
        Card("gini", "attnx_shape.gini:Gini", citation=HURLEY),
    ]  # fmt: skip
