"""Projections: functions that turn scores into attention weights on the simplex."""

from attnx.plugin import Card, hookimpl

BREBISSON = 'de Brébisson and Vincent, "An Exploration of Softmax Alternatives", ICLR 2016'
JANG = 'Jang, Gu and Poole, "Categorical Reparameterization with Gumbel-Softmax", ICLR 2017'
LAHA = 'Laha et al., "On Controllable Sparse Alternatives to Softmax", NeurIPS 2018'
MARTINS = 'Martins and Astudillo, "From Softmax to Sparsemax", ICML 2016'
PETERS = 'Peters, Niculae and Martins, "Sparse Sequence-to-Sequence Models", ACL 2019'
WIEGREFFE = 'Wiegreffe and Pinter, "Attention is not not Explanation", EMNLP 2019'
XU = 'Xu et al., "Show, Attend and Tell", ICML 2015'


@hookimpl
def attnx_projections() -> list[Card]:
    """Dense, sparse, sampled and constant projections."""
    return [
        Card("softmax", "attnx_projections.softmax:Softmax",
             options="attnx_projections.options:SoftmaxOptions"),
        Card("sparsemax", "attnx_projections.sparsemax:Sparsemax", citation=MARTINS),
        Card("sparsegen", "attnx_projections.sparsegen:Sparsegen",
             options="attnx_projections.options:SparsegenOptions", citation=LAHA),
        Card("entmax", "attnx_projections.entmax:Entmax",
             options="attnx_projections.options:EntmaxOptions", citation=PETERS),
        Card("spherical", "attnx_projections.spherical:Spherical", citation=BREBISSON),
        Card("gumbel-softmax", "attnx_projections.gumbel_softmax:GumbelSoftmax",
             options="attnx_projections.options:GumbelSoftmaxOptions", citation=JANG),
        Card("hard", "attnx_projections.hard:Hard", citation=XU),
        Card("uniform", "attnx_projections.uniform:Uniform", citation=WIEGREFFE),
    ]  # fmt: skip
